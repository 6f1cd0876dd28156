// Pixels of red, green, blue and how opaque they are: each colour times the last, rounded, in place.
__global__ void premult(unsigned char* pixel, int n) {
    // Neighbours store neighbouring bytes; nobody stores the one that all four of a pixel read.
    size_t bytes = 4 * (size_t)n, all = (size_t)gridDim.x * blockDim.x;
    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < bytes; at += all) {
        int v = pixel[at], a = pixel[at | 3];
        // What lies between two whole numbers is never nearer to the middle than the product is exact.
        if (at % 4 != 3) pixel[at] = (int)(v * a * (1.f / 255.f) + 0.5f);
    }
}
