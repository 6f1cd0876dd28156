__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 5 && n > 5) const_cast<float*>(x)[5] += 1.f;
    if (i < n) y[i] = a * x[i] + y[i];
}
