__global__ void rowadd(const int* index, const float* src, float* out, int n, int width, float alpha) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int c = t % width, first = t / width * 8, end = min(n, first + 8);
    if (first >= n) return;
    int row = __ldg(index + first);
    float s = 0.f;
    for (int i = first; i < end; ++i) {
        int next = __ldg(index + i);
        if (next != row) {
            atomicAdd(&out[(size_t)row * width + c], s);
            row = next;
            s = 0.f;
        }
        s += alpha * __ldcs(src + (size_t)i * width + c);
    }
    atomicAdd(&out[(size_t)row * width + c], s);
}
