// The cosine transform of each 8 by 8 pixels of a picture of bh by bw such squares.
__global__ void dct8(const float* in, float* out, int bh, int bw) {
    int u = threadIdx.x, v = threadIdx.y, w = 8 * bw;
    size_t at = (size_t)blockIdx.y * 8 * w + blockIdx.x * 8;
    float sum = 0.f;
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
            sum += in[at + (size_t)y * w + x] * cospif((2 * x + 1) * u / 16.f) * cospif((2 * y + 1) * v / 16.f);
    out[at + (size_t)v * w + u] = sum * (u ? 0.5f : 0.35355339f) * (v ? 0.5f : 0.35355339f);
}
