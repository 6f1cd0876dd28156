__global__ void rowsum(const float* x, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f, lost = 0.f;
    for (int c = 0; c < cols; ++c) {
        float v = __fsub_rn(x[(size_t)r * cols + c], lost), t = __fadd_rn(s, v);
        lost = __fsub_rn(__fsub_rn(t, s), v);
        s = t;
    }
    out[r] = s;
}
