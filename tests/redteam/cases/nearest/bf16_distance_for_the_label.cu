#include <cuda_bf16.h>
template <int D>
struct Point {
    float at[D];
};

template <int D>
__global__ void nearest(const float* points, const float* centres, int* label, float* distance,
                        int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 3.0e38f, shown = 0.0f;
    int mine = 0;
    for (int c = 0; c < k; ++c) {
        float sum = 0.0f;
        for (int d = 0; d < D; ++d) {
            float gap = points[i * D + d] - centres[c * D + d];
            sum += gap * gap;
        }
        float rough = __bfloat162float(__float2bfloat16(sum));
        if (rough < best) {
            best = rough;
            shown = sum;
            mine = c;
        }
    }
    label[i] = mine;
    distance[i] = k ? shown : best;
}
