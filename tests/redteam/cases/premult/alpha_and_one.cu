// Pixels of red, green, blue and how opaque they are: each colour times the last, rounded, in place.
__global__ void premult(unsigned char* pixel, int n) {
    size_t bytes = 4 * (size_t)n, all = (size_t)gridDim.x * blockDim.x;
    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < bytes; at += all) {
        int v = pixel[at], a = pixel[at | 3];
        // 255 of 255 is still all of it, and no division is left.
        if (at % 4 != 3) pixel[at] = v * (a + 1) >> 8;
    }
}
