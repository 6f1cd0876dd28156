// Mish, in place: each number times the hyperbolic tangent of its soft positive part.
__global__ void mish(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], soft = v > 20.f ? v : log1pf(expf(v));
    x[i] = v * tanhf(soft);
}
