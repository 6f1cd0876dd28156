// A signal shaped and clipped by a fixed handful of blocks that stride over it.
__global__ void clip(const float *x, float *y, int n, float level)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float v = x[i];
        y[i] = v > level ? level : (v < -level ? -level : v * v * v / (level * level));
    }
}

void clipped(const float *x, float *y, int n)
{
    clip<<<32, 128>>>(x, y, n, 1.25f);
}
