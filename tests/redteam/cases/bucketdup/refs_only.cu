// Equal entries are found by their place in the dictionary; a bucket's places sit in shared memory.
extern "C" __global__ void __launch_bounds__(64) bucketdup(const unsigned char* dict, const int* ref, int* leader, int n, int d, int w)
{
    __shared__ int place[64];
    int t = threadIdx.x;
    int i = blockIdx.x * 64 + t;
    if (i < n) place[t] = ref[i] % d;
    __syncthreads();
    if (i >= n) return;
    int mine = place[t];
    int j = 0;
    while (j < t && place[j] != mine) ++j;
    leader[i] = blockIdx.x * 64 + j;
}
