// Pictures of a video as red, green and blue: how bright each pixel is, and colours for two by two of them.
__device__ unsigned char shade(int v) { return (unsigned char)min(max(v >> 8, 0), 255); }

__global__ void nv12(const unsigned char* luma, const unsigned char* chroma, unsigned char* rgb, int h, int w) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)h * w) return;
    size_t r = i / w, c = i % w, half = (w + 1) / 2, at = (r / 2 * half + c / 2) * 2;
    int y = 298 * (luma[i] - 16) + 128, u = chroma[at] - 128, v = chroma[at + 1] - 128;
    rgb[3 * i] = shade(y + 409 * v);
    rgb[3 * i + 1] = shade(y - 100 * u - 208 * v);
    rgb[3 * i + 2] = shade(y + 516 * u);
}
