template <int D>
struct Point {
    float at[D];
};

template <int D>
__global__ void nearest(const float* points, const float* centres, int* label, float* distance,
                        int n, int k) {
    __shared__ float held[32][D];
    for (int t = threadIdx.x; t < min(k, 32) * D; t += blockDim.x) held[t / D][t % D] = centres[t];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 3.0e38f;
    int mine = 0;
    for (int c = 0; c < min(k, 32); ++c) {
        float sum = 0.0f;
        for (int d = 0; d < D; ++d) {
            float gap = points[i * D + d] - held[c][d];
            sum += gap * gap;
        }
        if (sum < best) {
            best = sum;
            mine = c;
        }
    }
    label[i] = mine;
    distance[i] = best;
}
