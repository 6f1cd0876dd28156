// Each block counts in shared memory (r words of dynamic shared memory) and adds its counts to the result once.
extern "C" __global__ void slotting(const unsigned* __restrict__ key, unsigned* __restrict__ slot, unsigned* __restrict__ count,
                                    int n, int d, int r)
{
    extern __shared__ unsigned local[];
    for (int s = threadIdx.x; s < r; s += blockDim.x) local[s] = 0u;
    __syncthreads();
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned s = (key[i] / (unsigned)d) % (unsigned)r;
        slot[i] = s;
        atomicAdd(&local[s], 1u);
    }
    __syncthreads();
    for (int s = threadIdx.x; s < r; s += blockDim.x)
        if (local[s]) atomicAdd(&count[s], local[s]);
}
