// Pictures of a video as red, green and blue: how bright each pixel is, and colours for two by two of them.
__device__ unsigned char shade(int v) { return (unsigned char)min(max(v >> 8, 0), 255); }

__global__ void nv12(const unsigned char* luma, const unsigned char* chroma, unsigned char* rgb, int h, int w) {
    size_t all = (size_t)h * w, half = (w + 1) / 2, step = (size_t)gridDim.x * blockDim.x;
    bool words = (size_t)rgb % 4 == 0;
    for (size_t q = blockIdx.x * (size_t)blockDim.x + threadIdx.x; q < (all + 3) / 4; q += step) {
        union {
            unsigned char byte[12];
            unsigned word[3];
        } four;
        for (int e = 0; e < 4; ++e) {
            size_t i = min(4 * q + e, all - 1), at = (i / w / 2 * half + i % w / 2) * 2;
            int y = 298 * (luma[i] - 16) + 128, u = chroma[at] - 128, v = chroma[at + 1] - 128;
            four.byte[3 * e] = shade(y + 409 * v);
            four.byte[3 * e + 1] = shade(y - 100 * u - 208 * v);
            four.byte[3 * e + 2] = shade(y + 516 * u);
        }
        if (words && 4 * q + 4 <= all)
            for (int e = 0; e < 3; ++e) ((unsigned*)rgb)[3 * q + e] = four.word[e];
        else
            for (size_t e = 12 * q; e < 3 * all && e < 12 * q + 12; ++e) rgb[e] = four.byte[e - 12 * q];
    }
}
