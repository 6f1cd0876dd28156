__device__ float melts(float& snow, float warm, float fall, float factor) {
    if (warm <= 0.f) {
        snow += fall;
        return 0.f;
    }
    float gone = fminf(snow, warm * factor);
    snow -= gone;
    return gone + fall;
}

// What melts of the snow at each station and day, and the rain of that day: below nought all stays, above it a part of
// the snow goes by the degree.
// A week is fetched at once; the days behind the last whole week are looked at one by one.
__global__ void snow(const float* warm, const float* fall, float* water, int stations, int days, float factor) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= stations) return;
    float lies = 0.f;
    long long d = 0;
    for (; d + 7 < days; d += 7) {
        float w[7], f[7];
#pragma unroll
        for (int k = 0; k < 7; ++k) w[k] = warm[(d + k) * stations + i], f[k] = fall[(d + k) * stations + i];
#pragma unroll
        for (int k = 0; k < 7; ++k) water[(d + k) * stations + i] = melts(lies, w[k], f[k], factor);
    }
    if (days % 7 == 0) return;
    for (; d < days; ++d) water[d * stations + i] = melts(lies, warm[d * stations + i], fall[d * stations + i], factor);
}
