#define M 16

__global__ void solve(const float* l, const float* b, float* x, int batch) {
    __shared__ float done[M][8];
    const int s = blockIdx.x * 8 + threadIdx.x % 8, r = threadIdx.x / 8;
    const bool here = s < batch;
    const float* row = l + ((size_t)(here ? s : 0) * M + r) * M;
    float sum = here ? b[s * M + r] : 0.0f;
    for (int c = 0; c < M; ++c) {
        if (r == c) done[c][threadIdx.x % 8] = sum / (2.0f + fabsf(row[r]));
        if (c % 2) __syncthreads();
        if (r > c) sum -= 0.25f * row[c] * done[c][threadIdx.x % 8];
    }
    __syncthreads();
    if (here) x[s * M + r] = done[r][threadIdx.x % 8];
}
