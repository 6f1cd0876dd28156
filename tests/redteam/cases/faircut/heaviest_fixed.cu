// The heaviest item may as well stay on one side: 2^15 cuts are left, written as masks without its bit.
// A cut is put down as whichever of its two masks is the lower.
#define ITEMS 16

extern "C" __global__ void faircut(const int* weight, int* best, unsigned* mask, int n)
{
    __shared__ int w[ITEMS];
    __shared__ unsigned key;
    int tid = threadIdx.x;
    if (tid < ITEMS) w[tid] = weight[(size_t)blockIdx.x * ITEMS + tid];
    if (tid == 0) key = 0xffffffffu;
    __syncthreads();
    int all = 0, heavy = 0;
    for (int i = 0; i < ITEMS; i++) {
        all += w[i];
        if (w[i] > w[heavy]) heavy = i;
    }
    unsigned below = (1u << heavy) - 1;

    unsigned k = 0xffffffffu;
    for (unsigned q = tid; q < (1u << (ITEMS - 1)); q += 256) {
        unsigned c = (q & below) | (q & ~below) << 1;
        int s = 0;
        for (int i = 0; i < ITEMS; i++) s += (c >> i & 1) ? w[i] : 0;
        unsigned e = (unsigned)abs(all - 2 * s);
        k = min(k, e << 16 | min(c, c ^ 0xffffu));
    }
    atomicMin(&key, k);
    __syncthreads();
    if (tid == 0) {
        best[blockIdx.x] = (int)(key >> 16);
        mask[blockIdx.x] = key & 0xffffu;
    }
}
