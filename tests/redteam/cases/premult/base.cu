// Pixels of red, green, blue and how opaque they are: each colour times the last, rounded, in place.
__global__ void premult(unsigned char* pixel, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char* p = pixel + 4 * (size_t)i;
    int a = p[3];
    for (int c = 0; c < 3; ++c) p[c] = (p[c] * a + 127) / 255;
}
