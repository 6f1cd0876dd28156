// A gain and a bias for each channel of images whose channels lie one after the other.
__global__ void channels(const float* x, const float* gain, const float* bias, float* y, int n, int c, int hw) {
    size_t start = (size_t)blockIdx.x * hw;
    int k = blockIdx.x % c, t = threadIdx.x;
    float g = gain[k], b = bias[k];
    const float* from = x + start;
    float* to = y + start;
    // Numbers before the first quad, quads where both sides lie alike, the rest.
    int head = hw, quads = 0;
    if ((((size_t)from ^ (size_t)to) & 15) == 0) {
        head = min(hw, (int)((16 - ((size_t)from & 15)) & 15) / 4);
        quads = (hw - head) / 4;
    }
    const float4* from4 = (const float4*)(from + head);
    float4* to4 = (float4*)(to + head);
    for (int j = t; j < head; j += blockDim.x) to[j] = from[j] * g + b;
    for (int q = t; q < quads; q += blockDim.x) {
        float4 v = from4[q];
        to4[q] = make_float4(v.x * g + b, v.y * g + b, v.z * g + b, v.w * g + b);
    }
    for (int j = head + 4 * quads + t; j < hw; j += blockDim.x) to[j] = from[j] * g + b;
}
