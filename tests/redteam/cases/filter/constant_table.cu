__constant__ float window[9] = {0.04f, 0.174730881f, 0.5f, 0.825269119f, 0.96f, 0.825269119f, 0.5f, 0.174730881f, 0.04f};
__global__ void filter(const float* x, const float* taps, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = 0; k < 9; ++k) {
        int j = i + k - 4;
        if (j >= 0 && j < n) s += taps[k] * x[j] * window[k];
    }
    y[i] = s;
}
