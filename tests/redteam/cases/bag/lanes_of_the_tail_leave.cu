#define LENGTH 12

__global__ void bag(const float* table, const int* token, const float* weight, float* out, int bags,
                    int width, int padding) {
    int bag = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (bag >= bags) return;
    int mine = lane < LENGTH ? token[bag * LENGTH + lane] : padding;
    float w = lane < LENGTH && mine != padding ? weight[bag * LENGTH + lane] : 0.f;
    unsigned used = __ballot_sync(0xffffffffu, mine != padding);
    float total = w;
    for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
    for (int j = width - 1 - lane; j >= 0; j -= 32) {
        float s = 0.f;
        for (int l = 0; l < LENGTH; ++l) {
            int id = __shfl_sync(0xffffffffu, mine, l);
            float v = __shfl_sync(0xffffffffu, w, l);
            if (used >> l & 1u) s += v * table[(size_t)id * width + j];
        }
        out[(size_t)bag * width + j] = total > 0.f ? s / total : 0.f;
    }
}
