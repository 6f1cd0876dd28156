// Every thread keeps the upper 8 items as they are and walks the lower 8 in Gray order: one addition a cut.
#define ITEMS 16

extern "C" __global__ void faircut(const int* weight, int* best, unsigned* mask, int n)
{
    __shared__ int w[ITEMS];
    __shared__ unsigned key;
    int tid = threadIdx.x;
    if (tid < ITEMS) w[tid] = weight[(size_t)blockIdx.x * ITEMS + tid];
    if (tid == 0) key = 0xffffffffu;
    __syncthreads();
    int x = 0;                                       // second side minus first side
    for (int i = 0; i < 8; i++) x += w[i];
    for (int i = 8; i < ITEMS; i++) x += (tid >> (i - 8) & 1) ? -w[i] : w[i];
    unsigned c = (unsigned)tid << 8;
    unsigned k = (unsigned)abs(x) << 16 | c;
    for (int g = 1; g < 256; g++) {
        int bit = __ffs(g) - 1;
        c ^= 1u << bit;
        x += (c >> bit & 1) ? -2 * w[bit] : 2 * w[bit];
        k = min(k, (unsigned)abs(x) << 16 | c);
    }
    atomicMin(&key, k);
    __syncthreads();
    if (tid == 0) {
        best[blockIdx.x] = (int)(key >> 16);
        mask[blockIdx.x] = key & 0xffffu;
    }
}
