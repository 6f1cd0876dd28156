__global__ void codebook(const unsigned char* w, const float* code, const float* scale, const float* x,
                         float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int bytes = (cols + 1) / 2, groups = (cols + 63) / 64;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) {
        unsigned char b = w[(size_t)r * bytes + c / 2];
        int which = c % 2 ? b >> 4 : b & 15;
        s += code[which] * scale[(size_t)r * groups + c / 64] * x[c];
    }
    y[r] = s;
}
