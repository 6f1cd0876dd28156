// A layer of one pixel's width: each channel of the result is a sum over the channels of its pixel, and no less than zero.
__global__ void pointwise(const float* x, const float* w, const float* bias, float* y, int cin, int cout, int pix) {
    int p = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y;
    if (p >= pix) return;
    float sum = 0.f;
    for (int c = 0; c < cin; ++c) sum += w[(size_t)o * cin + c] * x[(size_t)c * pix + p];
    y[(size_t)o * pix + p] = fmaxf(sum + bias[o], 0.f);
}
