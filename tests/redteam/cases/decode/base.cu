__global__ void decode(const float* q, const float* key, const float* value, float* out, int heads,
                       int length, float scale) {
    extern __shared__ float weight[];
    int h = blockIdx.x, d = threadIdx.x;
    for (int t = d; t < length; t += 32) {
        float s = 0.0f;
        for (int k = 0; k < 32; ++k) s += q[h * 32 + k] * key[(h * length + t) * 32 + k];
        weight[t] = s * scale;
    }
    __syncthreads();
    float top = -INFINITY;
    for (int t = 0; t < length; ++t) top = fmaxf(top, weight[t]);
    float sum = 0.0f, acc = 0.0f;
    for (int t = 0; t < length; ++t) {
        float w = expf(weight[t] - top);
        sum += w;
        acc += w * value[(h * length + t) * 32 + d];
    }
    out[h * 32 + d] = acc / sum;
}
