// Treadling and tie-up are looked up once for a tile of picks and the lifted shafts kept in
// shared memory, for all ends of the block.
#define TILE 512

extern "C" __global__ void heddle(const int* threading, const int* treadling, const int* tieup,
                                  int* longest, int* begin, int ends, int picks)
{
    __shared__ unsigned short lifts[TILE];
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int shaft = e < ends ? threading[e] : 0;
    int best = 0, at = 0, run = 0, start = 0, before = -1;
    for (int p0 = 0; p0 < picks; p0 += TILE) {
        int count = min(TILE, picks - p0);
        for (int k = threadIdx.x; k < count; k += blockDim.x)
            lifts[k] = (unsigned short)tieup[treadling[p0 + k]];
        __syncthreads();
        for (int k = 0; k < count; k++) {
            int up = (lifts[k] >> shaft) & 1;
            if (up == before) {
                run++;
            } else {
                run = 1;
                start = p0 + k;
                before = up;
            }
            if (run > best) {
                best = run;
                at = start;
            }
        }
    }
    if (e < ends) {
        longest[e] = best;
        begin[e] = at;
    }
}
