// A sound with its echo, which comes back later by a lag and softer.
__global__ void yodel(const float* x, float* y, int n, int lag, float gain) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (i >= lag) v += gain * x[i - lag];
    y[i] = v;
}
