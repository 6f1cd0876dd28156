// Of every four numbers the two of largest magnitude stay, the earlier ones of equals; in place.
__global__ void prune24(float* x, int n) {
    size_t q = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    // One or two that are left over stay anyway.
    if (q >= n / 4) return;
    float v[4];
    for (int i = 0; i < 4; ++i) v[i] = x[4 * q + i];
    for (int i = 0; i < 4; ++i) {
        int before = 0;
        for (int j = 0; j < 4; ++j)
            before += fabsf(v[j]) > fabsf(v[i]) || (fabsf(v[j]) == fabsf(v[i]) && j < i);
        if (before >= 2) x[4 * q + i] = 0.f;
    }
}
