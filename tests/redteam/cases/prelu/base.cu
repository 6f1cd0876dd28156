// In place: what is not above zero is multiplied by a slope that was learned.
__global__ void prelu(float* x, int n, float slope) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] > 0.f ? x[i] : slope * x[i];
}
