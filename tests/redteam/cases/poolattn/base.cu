// Values of as many steps as a row has, weighted by the softmax of their scores; 0 where it has none.
__global__ void poolattn(const float* s, const float* v, const int* lens, float* out, int b, int t, int d) {
    int r = blockIdx.x;
    if (r >= b) return;
    int len = max(0, min(lens[r], t));
    const float* score = s + (size_t)r * t;
    float high = -INFINITY, all = 0.f;
    for (int k = 0; k < len; ++k) high = fmaxf(high, score[k]);
    for (int k = 0; k < len; ++k) all += expf(score[k] - high);
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0.f;
        for (int k = 0; k < len; ++k) sum += expf(score[k] - high) * v[((size_t)r * t + k) * d + c];
        out[(size_t)r * d + c] = len ? sum / all : 0.f;
    }
}
