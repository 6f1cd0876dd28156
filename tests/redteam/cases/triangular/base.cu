#define M 16

__global__ void solve(const float* l, const float* b, float* x, int batch) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= batch) return;
    const float* a = l + s * M * M;
    for (int r = 0; r < M; ++r) {
        float sum = b[s * M + r];
        for (int c = 0; c < r; ++c) sum -= 0.25f * a[r * M + c] * x[s * M + c];
        x[s * M + r] = sum / (2.0f + fabsf(a[r * M + r]));
    }
}
