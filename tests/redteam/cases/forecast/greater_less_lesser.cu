// The continuous ranked probability score of ensemble forecasts: how far members are from what was seen, less half
// of how far they are from each other.

__global__ void forecast(const float* member, const float* seen, float* crps, int forecasts, int members)
{
    const int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= forecasts) return;
    const float* row = member + (size_t)f * members;
    const double y = seen[f];
    double off = 0.0, spread = 0.0;
    for (int i = 0; i < members; ++i) {
        const double x = row[i];
        off += fmax(x, y) - fmin(x, y);
        for (int j = i + 1; j < members; ++j) {
            const double other = row[j];
            spread += fmax(x, other) - fmin(x, other);
        }
    }
    crps[f] = (float)(off / members - spread / ((double)members * members));
}
