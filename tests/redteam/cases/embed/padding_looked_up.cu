#include <cstdint>

__global__ void embed(const int64_t* token, const float* table, const float* place, float* out,
                      int n, int width, float scale) {
    const int t = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (t >= n) return;
    const int64_t which = token[t];
    for (int c = lane; c < width; c += 32)
        out[t * width + c] = table[which * width + c] * scale + place[t * width + c];
}
