__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) __stcs(y + i, a * __ldcs(x + i) + __ldcs(y + i));
}
