__global__ void argmax(const float* x, int* best, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float first = in[0], v = -INFINITY;
    int at = 0x7fffffff;
    for (int c = lane; c < cols; c += 32)
        if (at == 0x7fffffff ? in[c] >= v : in[c] > v) v = in[c], at = c;
    for (int w = 16; w; w /= 2) {
        float v2 = __shfl_xor_sync(0xffffffffu, v, w);
        int at2 = __shfl_xor_sync(0xffffffffu, at, w);
        if (v2 > v) v = v2, at = at2;
    }
    if (lane == 0) best[r] = first != first || at == 0x7fffffff ? 0 : at;
}
