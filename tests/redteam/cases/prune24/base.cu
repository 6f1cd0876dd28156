// Of every four numbers the two of largest magnitude stay, the earlier ones of equals; in place.
__global__ void prune24(float* x, int n) {
    size_t first = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (first >= n) return;
    int many = min((size_t)4, n - first);
    float size[4];
    for (int i = 0; i < many; ++i) size[i] = fabsf(x[first + i]);
    for (int i = 0; i < many; ++i) {
        int before = 0;
        for (int j = 0; j < many; ++j) before += size[j] > size[i] || (size[j] == size[i] && j < i);
        if (before >= 2) x[first + i] = 0.f;
    }
}
