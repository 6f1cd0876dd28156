// Pixels of three bytes as three planes of floats, each less its mean and scaled.
// A 255th of each whole number, as division rounds it.
#define F1(k) (k) / 255.f
#define F4(k) F1(k), F1(k + 1), F1(k + 2), F1(k + 3)
#define F16(k) F4(k), F4(k + 4), F4(k + 8), F4(k + 12)
#define F64(k) F16(k), F16(k + 16), F16(k + 32), F16(k + 48)
__constant__ float parts[256] = {F64(0), F64(64), F64(128), F64(192)};

__global__ void planes(const unsigned char* in, const float* mean, const float* scale, float* out,
                       int images, int h, int w) {
    size_t plane = (size_t)h * w, all = images * plane;
    size_t i = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (i >= all) return;
    unsigned char byte[12];
    if (i + 4 <= all && (size_t)in % 4 == 0) {
        for (int e = 0; e < 3; ++e) {
            unsigned word = ((const unsigned*)in)[i / 4 * 3 + e];
            for (int b = 0; b < 4; ++b) byte[4 * e + b] = (unsigned char)(word >> 8 * b);
        }
    } else {
        for (int e = 0; e < 12; ++e) byte[e] = i * 3 + e < all * 3 ? in[i * 3 + e] : 0;
    }
    size_t image = i / plane, at = i % plane;
    for (int p = 0; p < 4 && i + p < all; ++p) {
        for (int c = 0; c < 3; ++c)
            out[(image * 3 + c) * plane + at] = (parts[byte[3 * p + c]] - mean[c]) * scale[c];
        if (++at == plane) at = 0, ++image;
    }
}
