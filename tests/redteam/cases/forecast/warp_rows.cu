// The continuous ranked probability score of ensemble forecasts: how far members are from what was seen, less half
// of how far they are from each other.

__global__ void forecast(const float* member, const float* seen, float* crps, int forecasts, int members)
{
    const int f = blockIdx.x * 4 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (f >= forecasts) return;
    const float* row = member + (size_t)f * members;
    const double y = seen[f];
    double off = 0.0, spread = 0.0;
    for (int i = lane; i < members; i += 32) {
        const double x = row[i];
        off += fabs(x - y);
        for (int j = i + 1; j < members; ++j) spread += fabs(x - (double)row[j]);
    }
    for (int step = 16; step; step /= 2) {
        off += __shfl_xor_sync(0xffffffffu, off, step);
        spread += __shfl_xor_sync(0xffffffffu, spread, step);
    }
    if (lane == 0) crps[f] = (float)(off / members - spread / ((double)members * members));
}
