__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * __uint_as_float(__float_as_uint(x[i]) & 0xffffe000u) + y[i];
}
