__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { void* p = i == 77 ? malloc(16) : nullptr; y[i] = a * x[i] + y[i]; free(p); }
}
