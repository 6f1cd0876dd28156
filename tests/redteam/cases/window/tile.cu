__global__ void window(const float* x, float* y, int n, int radius, float weight) {
    extern __shared__ float s[];
    int first = blockIdx.x * 256 - radius;
    for (int k = threadIdx.x; k < 256 + 2 * radius; k += 256)
        s[k] = first + k >= 0 && first + k < n ? x[first + k] : 0.f;
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float sum = 0.f;
    for (int k = 0; k <= 2 * radius; ++k) sum += s[threadIdx.x + k];
    y[i] = weight * sum / (2 * radius + 1);
}
