// To beat the best float so far, the pick best places on from the start must still belong
// to the same run. So look there first and go back only as far as the run reaches: the
// longer the floats, the fewer picks are looked at.
static __device__ __forceinline__ int lifted(const int* treadling, const int* tieup, int shaft, int p)
{
    return (__ldg(tieup + __ldg(treadling + p)) >> shaft) & 1;
}

extern "C" __global__ void heddle(const int* threading, const int* treadling, const int* tieup,
                                  int* longest, int* begin, int ends, int picks)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= ends)
        return;
    int shaft = threading[e];
    int best = 0, at = 0, s = 0;
    while (s + best < picks) {
        int up = lifted(treadling, tieup, shaft, s + best);
        int j = s + best;
        while (j > s && lifted(treadling, tieup, shaft, j - 1) == up)
            j--;
        if (j == s) {
            int q = s + best + 1;
            while (q < picks && lifted(treadling, tieup, shaft, q) == up)
                q++;
            best = q - s;
            at = s;
            s = q;
        } else {
            s = j;
        }
    }
    longest[e] = best;
    begin[e] = at;
}
