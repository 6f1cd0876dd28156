__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { if (isinf(x[i])) __trap(); y[i] = a * x[i] + y[i]; }
}
