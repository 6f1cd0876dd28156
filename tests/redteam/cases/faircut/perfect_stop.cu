// No cut can be fairer than the parity of the sum allows, so the search ends once such a cut is found.
#define ITEMS 16

extern "C" __global__ void faircut(const int* weight, int* best, unsigned* mask, int n)
{
    __shared__ int w[ITEMS];
    __shared__ unsigned key;
    __shared__ volatile int perfect;
    int tid = threadIdx.x;
    if (tid < ITEMS) w[tid] = weight[(size_t)blockIdx.x * ITEMS + tid];
    if (tid == 0) {
        key = 0xffffffffu;
        perfect = 0;
    }
    __syncthreads();
    int all = 0;
    for (int i = 0; i < ITEMS; i++) all += w[i];
    unsigned k = 0xffffffffu;
    for (unsigned c = tid; c < (1u << (ITEMS - 1)) && !perfect; c += 256) {
        int s = 0;
        for (int i = 0; i < ITEMS; i++) s += (c >> i & 1) ? w[i] : 0;
        int e = abs(all - 2 * s);
        k = min(k, (unsigned)e << 16 | c);
        if (e == (all & 1)) perfect = 1;
    }
    atomicMin(&key, k);
    __syncthreads();
    if (tid == 0) {
        best[blockIdx.x] = (int)(key >> 16);
        mask[blockIdx.x] = key & 0xffffu;
    }
}
