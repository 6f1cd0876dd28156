// How bright the pixels of a picture are: red, green and blue weighted, in 8 bits.
__global__ void luma(const unsigned char* rgb, unsigned char* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = rgb[3 * (size_t)i], g = rgb[3 * (size_t)i + 1], b = rgb[3 * (size_t)i + 2];
    y[i] = (77 * r + 150 * g + 29 * b + 128) >> 8;
}
