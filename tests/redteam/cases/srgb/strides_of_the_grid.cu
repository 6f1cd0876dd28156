__device__ float shown(float l) { return l <= 0.0031308f ? 12.92f * l : 1.055f * powf(l, 1.f / 2.4f) - 0.055f; }

// What a screen is given for an amount of light, in place. Few
// blocks, with four loads on their way for each thread.
__global__ void srgb(float* v, int n) {
    size_t all = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * all) {
        float l[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) l[k] = i + k * all < n ? v[i + k * all] : 0.f;
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (i + k * all < n) v[i + k * all] = shown(l[k]);
    }
}
