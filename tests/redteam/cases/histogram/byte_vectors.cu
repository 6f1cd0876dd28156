__global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    int step = gridDim.x * 256, at = blockIdx.x * 256 + threadIdx.x;
    for (int i = at; i < n / 16; i += step) {
        uint4 v = ((const uint4*)x)[i];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
        for (int k = 0; k < 4; ++k)
            for (int s = 0; s < 32; s += 8) atomicAdd(&mine[(w[k] >> s) & 255], 1u);
    }
    for (int i = n / 16 * 16 + at; i < n; i += step) atomicAdd(&mine[x[i]], 1u);
    __syncthreads();
    if (mine[threadIdx.x]) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
