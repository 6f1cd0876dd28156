// Beams of a row of receivers: at each moment a sum over the receivers, weighed for each beam.
__global__ void beamform(const float* x, const float* w, float* y, int receivers, int beams, int moments) {
    int m = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (m >= moments) return;
    float sum = 0.f;
    for (int r = 0; r < receivers; ++r) sum += w[(size_t)b * receivers + r] * x[(size_t)r * moments + m];
    y[(size_t)b * moments + m] = sum;
}
