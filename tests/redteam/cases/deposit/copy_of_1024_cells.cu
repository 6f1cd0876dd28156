// The charge of particles on a ring of cells, shared between the two that each lies between.
__global__ void deposit(const float* x, float* charge, int n, int cells) {
    // A copy for each block, with the first cell once more behind the last.
    __shared__ float own[1024];
    bool fits = cells <= 1024;
    if (fits)
        for (int k = threadIdx.x; k <= cells; k += blockDim.x) own[k] = 0.f;
    __syncthreads();
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float p = __fmul_rn(x[i], cells), f = floorf(p), right = p - f;
        int c = (int)f % cells;
        if (c < 0) c += cells;
        if (fits) {
            atomicAdd(&own[c], 1.f - right);
            atomicAdd(&own[c + 1], right);
        } else {
            atomicAdd(&charge[c], 1.f - right);
            atomicAdd(&charge[c + 1 == cells ? 0 : c + 1], right);
        }
    }
    __syncthreads();
    if (fits)
        for (int k = threadIdx.x; k <= cells; k += blockDim.x)
            if (own[k] != 0.f) atomicAdd(&charge[k < cells ? k : 0], own[k]);
}
