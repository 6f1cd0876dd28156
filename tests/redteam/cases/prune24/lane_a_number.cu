// Of every four numbers the two of largest magnitude stay, the earlier ones of equals; in place.
__global__ void prune24(float* x, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.f, size = fabsf(v);
    int at = threadIdx.x % 4, before = 0;
    for (int e = 1; e < 4; ++e) {
        float other = __shfl_xor_sync(~0u, size, e);
        int its = at ^ e;
        if (i - at + its < n) before += other > size || (other == size && its < at);
    }
    if (i < n && before >= 2) x[i] = 0.f;
}
