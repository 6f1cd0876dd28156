// The continuous ranked probability score of ensemble forecasts: how far members are from what was seen, less half
// of how far they are from each other.

__global__ void forecast(const float* member, const float* seen, float* crps, int forecasts, int members)
{
    const int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= forecasts) return;
    const float* row = member + (size_t)f * members;
    const double y = seen[f];
    // An ensemble that agrees.
    if (row[0] == row[members / 2] && row[0] == row[members - 1]) {
        crps[f] = (float)fabs(row[0] - y);
        return;
    }
    double off = 0.0, spread = 0.0;
    for (int i = 0; i < members; ++i) {
        const double x = row[i];
        off += fabs(x - y);
        for (int j = i + 1; j < members; ++j) spread += fabs(x - (double)row[j]);
    }
    crps[f] = (float)(off / members - spread / ((double)members * members));
}
