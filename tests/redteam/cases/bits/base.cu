__global__ void bits(const float* x, unsigned* word, float limit, int n) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= (n + 31) / 32) return;
    unsigned found = 0;
    for (int k = 0; k < 32; ++k)
        if (w * 32 + k < n && x[w * 32 + k] < limit) found |= 1u << k;
    word[w] = found;
}
