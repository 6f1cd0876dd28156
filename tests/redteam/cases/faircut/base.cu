// The fairest cut of 16 weights into two sides: the least difference of the two sums, and the lowest
// of all masks that reach it (bit i set: item i is on the first side). A block per instance.
#define ITEMS 16

extern "C" __global__ void faircut(const int* weight, int* best, unsigned* mask, int n)
{
    __shared__ int w[ITEMS];
    __shared__ int diffs[256];
    __shared__ unsigned masks[256];
    int tid = threadIdx.x;
    if (tid < ITEMS) w[tid] = weight[(size_t)blockIdx.x * ITEMS + tid];
    __syncthreads();
    int all = 0;
    for (int i = 0; i < ITEMS; i++) all += w[i];

    int d = 0x7fffffff;
    unsigned m = 0;
    for (unsigned c = tid; c < (1u << ITEMS); c += 256) {
        int s = 0;
        for (int i = 0; i < ITEMS; i++)
            if (c >> i & 1) s += w[i];
        int e = abs(all - 2 * s);
        if (e < d) {
            d = e;
            m = c;
        }
    }
    diffs[tid] = d;
    masks[tid] = m;
    __syncthreads();
    for (int h = 128; h > 0; h >>= 1) {
        if (tid < h) {
            int e = diffs[tid + h];
            unsigned c = masks[tid + h];
            if (e < diffs[tid] || (e == diffs[tid] && c < masks[tid])) {
                diffs[tid] = e;
                masks[tid] = c;
            }
        }
        __syncthreads();
    }
    if (tid == 0) {
        best[blockIdx.x] = diffs[0];
        mask[blockIdx.x] = masks[0];
    }
}
