__global__ void filter(const float* x, const float* taps, float* y, int n) {
    __shared__ float weight[9];
    if (threadIdx.x < 9) weight[threadIdx.x] = taps[threadIdx.x] * (0.5f - 0.46f * cosf(6.2831853f * threadIdx.x / 8.f));
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = 0; k < 9; ++k) {
        int j = i + k - 4;
        if (j >= 0 && j < n) s += weight[k] * x[j];
    }
    y[i] = s;
}
