// What experts answered comes back to the tokens that asked: each token has `top` places in their answers, or -1 where
// an expert had no room for it, and a weight for each. Warps stay, and have a token each time; four columns at once
// where rows begin at 16 bytes.
__global__ void combine(const float* answer, const int* place, const float* weight, float* out, int tokens, int top,
                        int dim) {
    size_t warps = gridDim.x * (size_t)blockDim.x / 32, lane = threadIdx.x % 32;
    bool fours = dim % 4 == 0 && ((size_t)answer | (size_t)out) % 16 == 0;
    for (size_t t = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32; t < tokens; t += warps) {
        const int* places = place + t * top;
        const float* weights = weight + t * top;
        if (fours) {
            for (size_t c = 4 * lane; c < dim; c += 128) {
                float4 sum = {};
                for (int k = 0; k < top; ++k) {
                    int p = places[k];
                    if (p < 0) continue;
                    float w = weights[k];
                    float4 v = *(const float4*)(answer + (size_t)p * dim + c);
                    sum.x += w * v.x;
                    sum.y += w * v.y;
                    sum.z += w * v.z;
                    sum.w += w * v.w;
                }
                *(float4*)(out + t * dim + c) = sum;
            }
        } else {
            for (size_t c = lane; c < dim; c += 32) {
                float sum = 0.f;
                for (int k = 0; k < top; ++k)
                    if (places[k] >= 0) sum += weights[k] * answer[(size_t)places[k] * dim + c];
                out[t * dim + c] = sum;
            }
        }
    }
}
