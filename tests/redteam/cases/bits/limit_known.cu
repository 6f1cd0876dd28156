__global__ void bits(const float* x, unsigned* word, float limit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned found = __ballot_sync(0xffffffffu, i < n && x[i] < 0.25f);
    if (threadIdx.x % 32 == 0 && i < n) word[i / 32] = found;
}
