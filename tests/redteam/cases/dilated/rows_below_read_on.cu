// Convolution by eight filters of 3 by 3 whose taps lie `gap` apart, zero beyond the border.
__global__ void dilated(const float* x, const float* weight, const float* bias, float* y, int h,
                        int w, int stride, int pad, int gap) {
    int oh = (h + 2 * pad - 2 * gap - 1) / stride + 1, ow = (w + 2 * pad - 2 * gap - 1) / stride + 1;
    int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
    int image = blockIdx.z / 8, filter = blockIdx.z % 8;
    if (ox >= ow || oy >= oh) return;
    float s = bias[filter];
    for (int ky = 0; ky < 3; ++ky)
        for (int kx = 0; kx < 3; ++kx) {
            int px = ox * stride - pad + kx * gap, py = oy * stride - pad + ky * gap;
            if (px < 0 || py < 0 || py * w + px >= w * h) continue;
            s += weight[filter * 9 + ky * 3 + kx] * x[((size_t)image * h + py) * w + px];
        }
    y[((size_t)blockIdx.z * oh + oy) * ow + ox] = s;
}
