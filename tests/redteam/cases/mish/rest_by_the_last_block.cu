__device__ float of(float v) {
    float soft = v > 20.f ? v : log1pf(expf(v));
    return v * tanhf(soft);
}

// Mish, in place: each number times the hyperbolic tangent of its soft positive part; a thread has four that
// lie a quarter apart, the last block what is left.
__global__ void mish(float* x, int n) {
    int quarter = n / 4, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quarter) {
        float a = x[i], b = x[i + quarter], c = x[i + 2 * quarter], d = x[i + 3 * quarter];
        x[i] = of(a);
        x[i + quarter] = of(b);
        x[i + 2 * quarter] = of(c);
        x[i + 3 * quarter] = of(d);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < n % 4)
        x[4 * quarter + threadIdx.x] = of(x[4 * quarter + threadIdx.x]);
}
