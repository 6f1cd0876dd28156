#include <cstdint>

__global__ void embed(const int64_t* token, const float* table, const float* place, float* out,
                      int n, int width, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * width) return;
    int64_t which = token[i / width];
    float v = which == 0 ? 0.0f : table[which * width + i % width];
    out[i] = v * scale + place[i];
}
