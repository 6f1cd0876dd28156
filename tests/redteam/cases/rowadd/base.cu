__global__ void rowadd(const int* index, const float* src, float* out, int n, int width, float alpha) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n * width) return;
    int i = t / width, c = t % width;
    atomicAdd(&out[(size_t)index[i] * width + c], alpha * src[t]);
}
