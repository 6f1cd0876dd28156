// Pictures of a video as red, green and blue: how bright each pixel is, and colours for two by two of them.
__device__ unsigned char shade(int v) { return (unsigned char)min(max(v >> 8, 0), 255); }

__global__ void nv12(const unsigned char* luma, const unsigned char* chroma, unsigned char* rgb, int h, int w) {
    size_t half = (w + 1) / 2, i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= half * ((h + 1) / 2)) return;
    size_t r = i / half * 2, c = i % half * 2;
    int u = chroma[2 * i] - 128, v = chroma[2 * i + 1] - 128;
    int red = 409 * v, green = -100 * u - 208 * v, blue = 516 * u;
    for (size_t a = r; a < r + 2; ++a)
        for (size_t b = c; b < c + 2; ++b) {
            if (a >= h) continue;
            int y = 298 * (luma[a * w + b] - 16) + 128;
            unsigned char* pixel = rgb + 3 * (a * w + b);
            pixel[0] = shade(y + red);
            pixel[1] = shade(y + green);
            pixel[2] = shade(y + blue);
        }
}
