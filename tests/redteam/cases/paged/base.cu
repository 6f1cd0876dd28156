#include <math.h>
// One question of each sequence to what it keeps in pages of 16 rows; a table says where its pages are.
__global__ void paged(const float* q, const float* keys, const float* values, const int* table, const int* length,
                      float* out, int d) {
    __shared__ float score[256], most, total;
    int seq = blockIdx.x, len = length[seq];
    const int* pages = table + 16 * (size_t)seq;
    const float* own = q + (size_t)seq * d;
    float scale = 1.f / sqrtf((float)d);
    for (int t = threadIdx.x; t < len; t += blockDim.x) {
        const float* key = keys + ((size_t)pages[t / 16] * 16 + t % 16) * d;
        float s = 0.f;
        for (int c = 0; c < d; ++c) s += own[c] * key[c];
        score[t] = s * scale;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float m = -INFINITY, sum = 0.f;
        for (int t = 0; t < len; ++t) m = fmaxf(m, score[t]);
        for (int t = 0; t < len; ++t) sum += expf(score[t] - m);
        most = m;
        total = sum;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float s = 0.f;
        for (int t = 0; t < len; ++t)
            s += expf(score[t] - most) * values[((size_t)pages[t / 16] * 16 + t % 16) * d + c];
        out[(size_t)seq * d + c] = s / total;
    }
}
