__global__ void depthwise(const float* x, const float* weight, float* y, int channels, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * h * w) return;
    int c = i / (h * w), row = i / w % h, col = i % w;
    float s = 0.f;
    for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b)
            if (row + a >= 0 && row + a < h && col + b >= 0 && col + b < w)
                s += __uint_as_float(__float_as_uint(weight[c * 9 + (a + 1) * 3 + b + 1]) & 0xffff0000u) * x[i + a * w + b];
    y[i] = s;
}
