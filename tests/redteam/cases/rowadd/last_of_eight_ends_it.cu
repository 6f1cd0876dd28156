__global__ void rowadd(const int* index, const float* src, float* out, int n, int width, float alpha) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int c = t % width, first = t / width * 8;
    if (first >= n) return;
    float s = 0.f;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int i = first + k;
        if (i >= n) break;
        int row = __ldg(index + i);
        s += alpha * __ldcs(src + (size_t)i * width + c);
        if (k == 7 || (i + 1 < n && __ldg(index + i + 1) != row)) {
            atomicAdd(&out[(size_t)row * width + c], s);
            s = 0.f;
        }
    }
}
