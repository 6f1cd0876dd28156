// The largest magnitude of a row by its root of the mean square; 0 for a row of zeros.
__global__ void crest(const float* x, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float top = 0.f, s = 0.f;
    for (int c = 0; c < cols; ++c) {
        float v = x[(size_t)r * cols + c];
        top = fmaxf(top, fabsf(v));
        s += v * v;
    }
    out[r] = s > 0.f ? top / sqrtf(s / cols) : 0.f;
}
