// What melts of the snow at each station and day, and the rain of that day: below nought all stays, above it a part of
// the snow goes by the degree.
__global__ void snow(const float* warm, const float* fall, float* water, int stations, int days, float factor) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= stations) return;
    float lies = 0.f;
    for (int d = 0; d < days; ++d) {
        size_t at = (size_t)d * stations + i;
        if (warm[at] <= 0.f) {
            lies += fall[at];
            water[at] = 0.f;
            continue;
        }
        float gone = fminf(lies, warm[at] * factor);
        lies -= gone;
        water[at] = gone + fall[at];
    }
}
