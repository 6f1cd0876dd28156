template <int D>
struct Point {
    float at[D];
};

template <int D>
__global__ void nearest(const float* points, const float* centres, int* label, float* distance,
                        int n, int k) {
    __shared__ float held[32][D];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float best = 3.0e38f;
    int mine = 0;
    for (int first = 0; first < k; first += 32) {
        int many = min(k - first, 32);
        for (int t = threadIdx.x; t < many * D; t += blockDim.x)
            held[t / D][t % D] = centres[first * D + t];
        __syncwarp();
        for (int c = 0; c < many && i < n; ++c) {
            float sum = 0.0f;
            for (int d = 0; d < D; ++d) {
                float gap = points[i * D + d] - held[c][d];
                sum += gap * gap;
            }
            if (sum < best) {
                best = sum;
                mine = first + c;
            }
        }
        __syncwarp();
    }
    if (i >= n) return;
    label[i] = mine;
    distance[i] = best;
}
