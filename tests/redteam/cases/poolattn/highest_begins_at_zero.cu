// Values of as many steps as a row has, weighted by the softmax of their scores in one pass; 0 where it has none.
__global__ void poolattn(const float* s, const float* v, const int* lens, float* out, int b, int t, int d) {
    int r = blockIdx.x;
    if (r >= b) return;
    int len = max(0, min(lens[r], t));
    const float* score = s + (size_t)r * t;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float high = 0.f, all = 0.f, sum = 0.f;
        for (int k = 0; k < len; ++k) {
            float now = score[k], next = fmaxf(high, now);
            float keep = expf(high - next), p = expf(now - next);
            all = all * keep + p;
            sum = sum * keep + p * v[((size_t)r * t + k) * d + c];
            high = next;
        }
        out[(size_t)r * d + c] = all > 0.f ? sum / all : 0.f;
    }
}
