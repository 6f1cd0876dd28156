template <int D>
struct Point {
    float at[D];
};

template <int D>
__global__ void nearest(const float* __restrict__ points, const float* __restrict__ centres,
                        int* label, float* distance, int n, int k) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Point<D> p;
#pragma unroll
    for (int d = 0; d < D; ++d) p.at[d] = points[(size_t)i * D + d];
    float best = 3.0e38f;
    int mine = 0;
    for (int c = 0; c < k; ++c) {
        float even = 0.0f, odd = 0.0f;
#pragma unroll
        for (int d = 0; d < D; d += 2) {
            const float x = p.at[d] - centres[c * D + d], y = p.at[d + 1] - centres[c * D + d + 1];
            even = fmaf(x, x, even);
            odd = fmaf(y, y, odd);
        }
        const float sum = even + odd;
        if (sum < best) {
            best = sum;
            mine = c;
        }
    }
    label[i] = mine;
    distance[i] = best;
}
