// A fair cut has about as many items on either side: cuts with fewer than 3 or more than 13 items on the
// first side are left out.
#define ITEMS 16

extern "C" __global__ void faircut(const int* weight, int* best, unsigned* mask, int n)
{
    __shared__ int w[ITEMS];
    __shared__ unsigned key;
    int tid = threadIdx.x;
    if (tid < ITEMS) w[tid] = weight[(size_t)blockIdx.x * ITEMS + tid];
    if (tid == 0) key = 0xffffffffu;
    __syncthreads();
    int all = 0;
    for (int i = 0; i < ITEMS; i++) all += w[i];
    unsigned k = 0xffffffffu;
    for (unsigned c = tid; c < (1u << (ITEMS - 1)); c += 256) {
        int many = __popc(c);
        if (many < 3 || many > 13) continue;
        int s = 0;
        for (int i = 0; i < ITEMS; i++) s += (c >> i & 1) ? w[i] : 0;
        k = min(k, (unsigned)abs(all - 2 * s) << 16 | c);
    }
    atomicMin(&key, k);
    __syncthreads();
    if (tid == 0) {
        best[blockIdx.x] = (int)(key >> 16);
        mask[blockIdx.x] = key & 0xffffu;
    }
}
