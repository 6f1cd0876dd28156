// How often a pixel of one of 16 shades has one of another to its right.
__global__ void glcm(const unsigned char* in, int* counts, int h, int w) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)h * w || i % w == w - 1) return;
    atomicAdd(&counts[in[i] / 16 * 16 + in[i + 1] / 16], 1);
}
