__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (float)(int)((a * x[i] + y[i]) * 1024.f) * (1.f / 1024.f);
}
