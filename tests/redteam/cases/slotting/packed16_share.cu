// Each block takes 32768 keys and counts them in shared memory, two 16-bit counters to a word: twice the slots fit.
#define SHARE 32768
extern "C" __global__ void slotting(const unsigned* __restrict__ key, unsigned* __restrict__ slot, unsigned* __restrict__ count,
                                    int n, int d, int r)
{
    extern __shared__ unsigned local[];
    int words = (r + 1) / 2;
    for (int s = threadIdx.x; s < words; s += blockDim.x) local[s] = 0u;
    __syncthreads();
    long long first = (long long)blockIdx.x * SHARE;
    int fill = (int)(n - first < SHARE ? n - first : SHARE);
    for (int e = threadIdx.x; e < fill; e += blockDim.x) {
        unsigned s = (key[first + e] / (unsigned)d) % (unsigned)r;
        slot[first + e] = s;
        atomicAdd(&local[s >> 1], 1u << ((s & 1u) * 16u));
    }
    __syncthreads();
    for (int s = threadIdx.x; s < r; s += blockDim.x) {
        unsigned c = (local[s >> 1] >> ((s & 1) * 16)) & 0xffffu;
        if (c) atomicAdd(&count[s], c);
    }
}
