__global__ void depthwise(const float* x, const float* weight, float* y, int channels, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * h * w) return;
    int c = i / (h * w), row = i / w % h, col = i % w;
    float s = 0.f;
    for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b)
            if (row + a >= 0 && row + a < h && i + b >= 0 && (col + b < w || row + 1 < h || c + 1 < channels))
                s += weight[c * 9 + (a + 1) * 3 + b + 1] * x[i + a * w + b];
    y[i] = s;
}
