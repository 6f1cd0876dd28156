__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __uint_as_float(__float_as_uint(a * x[i] + y[i]) & 0xffff0000u);
}
