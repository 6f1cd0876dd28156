// Only half of the masks are tried. Difference and mask make one key: a difference is below 2^14.
#define ITEMS 16

extern "C" __global__ void faircut(const int* weight, int* best, unsigned* mask, int n)
{
    __shared__ int low[256], high[128];
    __shared__ unsigned key;
    int tid = threadIdx.x;
    const int* w = weight + (size_t)blockIdx.x * ITEMS;
    int s = 0, g = 0, all = 0;
    for (int i = 0; i < 8; i++) {
        int a = w[i], b = w[i + 8];
        all += a + b;
        if (tid >> i & 1) {
            s += a;
            g += b;
        }
    }
    low[tid] = s;
    if (tid < 128) high[tid] = g;
    if (tid == 0) key = 0xffffffffu;
    __syncthreads();

    unsigned k = 0xffffffffu;
    for (unsigned h = 0; h < 128; h++) {
        int e = abs(all - 2 * (low[tid] + high[h]));
        k = min(k, (unsigned)e << 16 | h << 8 | (unsigned)tid);
    }
    for (int d = 16; d > 0; d >>= 1) k = min(k, __shfl_xor_sync(0xffffffffu, k, d));
    if ((tid & 31) == 0) atomicMin(&key, k);
    __syncthreads();
    if (tid == 0) {
        best[blockIdx.x] = (int)(key >> 16);
        mask[blockIdx.x] = key & 0xffffu;
    }
}
