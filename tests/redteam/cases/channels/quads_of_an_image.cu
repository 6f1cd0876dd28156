// A gain and a bias for each channel of images whose channels lie one after the other.
__global__ void channels(const float* x, const float* gain, const float* bias, float* y, int n, int c, int hw) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool whole = (size_t)c * hw % 4 == 0 && (((size_t)x | (size_t)y) & 15) == 0;
    if (whole) {
        if (i >= n / 4) return;
        int k = i * 4 / hw % c;
        float g = gain[k], b = bias[k];
        float4 v = ((const float4*)x)[i];
        ((float4*)y)[i] = make_float4(v.x * g + b, v.y * g + b, v.z * g + b, v.w * g + b);
        return;
    }
    if (i >= n) return;
    int k = i / hw % c;
    y[i] = x[i] * gain[k] + bias[k];
}
