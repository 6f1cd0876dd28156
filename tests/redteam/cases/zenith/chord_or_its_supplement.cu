__device__ bool unit(const float* p, float* u) {
    float most = 0.f, sum = 0.f;
    for (int k = 0; k < 8; ++k) {
        u[k] = p[k];
        most = fmaxf(most, fabsf(u[k]));
    }
    if (!(most > 0.f)) most = 1.f;
    for (int k = 0; k < 8; ++k) {
        u[k] /= most;
        sum += u[k] * u[k];
    }
    if (sum == 0.f) return false;
    float length = sqrtf(sum);
    for (int k = 0; k < 8; ++k) u[k] /= length;
    return true;
}

__global__ void zenith(const float* a, const float* b, float* angle, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float u[8], v[8];
    bool some = unit(a + (size_t)i * 8, u);
    some = unit(b + (size_t)i * 8, v) && some;
    float apart = 0.f, along = 0.f;
    for (int k = 0; k < 8; ++k) {
        apart += (u[k] - v[k]) * (u[k] - v[k]);
        along += (u[k] + v[k]) * (u[k] + v[k]);
    }
    // Each arc sine is taken of the shorter one, below 0.71, where it is steep nowhere.
    float turn = apart > along ? 3.14159265f - 2.f * asinf(0.5f * sqrtf(along)) : 2.f * asinf(0.5f * sqrtf(apart));
    angle[i] = some ? turn : 0.f;
}
