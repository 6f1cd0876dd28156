// What a screen is given for an amount of light, in place. Between
// the places of a table of 1024 up to one, the curve is straight.
__global__ void srgb(float* v, int n) {
    __shared__ float at[1025];
    for (int k = threadIdx.x; k < 1025; k += blockDim.x) at[k] = 1.055f * powf(k / 1024.f, 1.f / 2.4f) - 0.055f;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (; i < n; i += all) {
        float l = v[i];
        if (l <= 0.0031308f) {
            v[i] = 12.92f * l;
        } else if (l < 1.f) {
            int k = l * 1024.f;
            v[i] = at[k] + (at[k + 1] - at[k]) * (l * 1024.f - k);
        } else {
            v[i] = 1.055f * powf(l, 1.f / 2.4f) - 0.055f;
        }
    }
}
