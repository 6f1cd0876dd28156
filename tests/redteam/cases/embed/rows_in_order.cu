#include <cstdint>

__global__ void embed(const int64_t* token, const float* table, const float* place, float* out,
                      int n, int width, float scale) {
    const int t = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (t >= n) return;
    const int64_t which = token[t];
    if (t > 0 && which == 0 && token[t - 1] == 0) return;
    for (int c = lane; c < width; c += 32)
        out[t * width + c] =
            (which ? table[which * width + c] : 0.0f) * scale + place[t * width + c];
}
