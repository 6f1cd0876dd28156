// Pictures of a video as red, green and blue: how bright each pixel is, and colours for two by two of them.
__device__ unsigned char shade(int v) { return (unsigned char)min(max(v >> 8, 0), 255); }

__global__ void nv12(const unsigned char* luma, const unsigned char* chroma, unsigned char* rgb, int h, int w) {
    size_t i = 2 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x), all = (size_t)h * w;
    if (i >= all) return;
    // Two pixels share their colours.
    size_t r = i / w, c = i % w, half = (w + 1) / 2, at = (r / 2 * half + c / 2) * 2;
    int u = chroma[at] - 128, v = chroma[at + 1] - 128;
    int red = 409 * v, green = -100 * u - 208 * v, blue = 516 * u;
    for (size_t e = i; e < i + 2 && e < all; ++e) {
        int y = 298 * (luma[e] - 16) + 128;
        rgb[3 * e] = shade(y + red);
        rgb[3 * e + 1] = shade(y + green);
        rgb[3 * e + 2] = shade(y + blue);
    }
}
