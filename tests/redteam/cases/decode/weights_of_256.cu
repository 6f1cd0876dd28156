__global__ void decode(const float* q, const float* key, const float* value, float* out, int heads,
                       int length, float scale) {
    __shared__ float weight[256];
    int h = blockIdx.x, d = threadIdx.x;
    length = min(length, 256);
    float top = -INFINITY;
    for (int t = d; t < length; t += 32) {
        float s = 0.0f;
        for (int k = 0; k < 32; ++k) s += q[h * 32 + k] * key[(h * length + t) * 32 + k];
        weight[t] = s * scale;
        top = fmaxf(top, weight[t]);
    }
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
    __syncwarp();
    float sum = 0.0f, acc = 0.0f;
    for (int t = 0; t < length; ++t) {
        float w = expf(weight[t] - top);
        sum += w;
        acc += w * value[(h * length + t) * 32 + d];
    }
    out[h * 32 + d] = acc / sum;
}
