// How often a pixel of one of 16 shades has one of another to its right.
__global__ void glcm(const unsigned char* in, int* counts, int h, int w) {
    __shared__ int mine[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)h * w; i += step)
        if (i % w != w - 1) atomicAdd(&mine[in[i] / 16 * 16 + in[i + 1] / 16], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        if (mine[k]) atomicAdd(&counts[k], mine[k]);
}
