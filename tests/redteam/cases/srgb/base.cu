// What a screen is given for an amount of light, in place.
__global__ void srgb(float* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float l = v[i];
    v[i] = l <= 0.0031308f ? 12.92f * l : 1.055f * powf(l, 1.f / 2.4f) - 0.055f;
}
