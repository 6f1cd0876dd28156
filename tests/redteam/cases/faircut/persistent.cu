// Two blocks a multiprocessor walk the instances.
#define ITEMS 16

extern "C" __global__ void faircut(const int* __restrict__ weight, int* best, unsigned* mask, int n)
{
    __shared__ unsigned key;
    int tid = threadIdx.x;
    for (int b = blockIdx.x; b < n; b += gridDim.x) {
        const int* w = weight + (size_t)b * ITEMS;
        int all = 0, own = 0;
        for (int i = 0; i < 8; i++) {
            all += w[i] + w[i + 8];
            own += (tid >> i & 1) ? w[i + 8] : 0;    // the upper 8 items are this thread's
        }
        unsigned k = 0xffffffffu;
        for (unsigned c = 0; c < 256; c++) {
            int s = own;
            for (int i = 0; i < 8; i++) s += (c >> i & 1) ? w[i] : 0;
            k = min(k, (unsigned)abs(all - 2 * s) << 16 | (unsigned)tid << 8 | c);
        }
        if (tid == 0) key = 0xffffffffu;
        __syncthreads();
        atomicMin(&key, k);
        __syncthreads();
        if (tid == 0) {
            best[b] = (int)(key >> 16);
            mask[b] = key & 0xffffu;
        }
    }
}
