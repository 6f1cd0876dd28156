// A step of a wave in two dimensions, by differences of the eighth order; nothing moves outside of the field.
__global__ void seismic(const float* u, const float* v, float* next, int h, int w) {
    const float c[5] = {-205.f / 72, 8.f / 5, -1.f / 5, 8.f / 315, -1.f / 560};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t i = (size_t)y * w + x;
    float lap = 2 * c[0] * u[i];
    for (int k = 1; k < 5; ++k) {
        size_t up = (size_t)k * w;
        lap += c[k] * ((x >= k ? u[i - k] : 0.f) + (x + k < w ? u[i + k] : 0.f) + (y >= k ? u[i - up] : 0.f) +
                       (y + k < h ? u[i + up] : 0.f));
    }
    next[i] = 2 * u[i] - next[i] + v[i] * lap;
}
