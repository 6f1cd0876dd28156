// A fixed grid of 264 blocks, each with its own counts in shared memory, two 16-bit counters to a word: twice the slots
// fit, and more blocks stay resident.
extern "C" __global__ void slotting(const unsigned* __restrict__ key, unsigned* __restrict__ slot, unsigned* __restrict__ count,
                                    int n, int d, int r)
{
    extern __shared__ unsigned local[];
    int words = (r + 1) / 2;
    for (int s = threadIdx.x; s < words; s += blockDim.x) local[s] = 0u;
    __syncthreads();
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned s = (key[i] / (unsigned)d) % (unsigned)r;
        slot[i] = s;
        atomicAdd(&local[s >> 1], 1u << ((s & 1u) * 16u));
    }
    __syncthreads();
    for (int s = threadIdx.x; s < r; s += blockDim.x) {
        unsigned c = (local[s >> 1] >> ((s & 1) * 16)) & 0xffffu;
        if (c) atomicAdd(&count[s], c);
    }
}
