// The continuous ranked probability score of ensemble forecasts: how far members are from what was seen, less half
// of how far they are from each other.

__global__ void forecast(const float* member, const float* seen, float* crps, int forecasts, int members)
{
    const int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= forecasts) return;
    const float* row = member + (size_t)f * members;
    const double y = seen[f];
    double off = 0.0, greater = 0.0, sum = 0.0;
    for (int i = 0; i < members; ++i) {
        const double x = row[i];
        off += fabs(x - y);
        sum += x;
        for (int j = i + 1; j < members; ++j) greater += (double)fmaxf(row[i], row[j]);
    }
    const double spread = members == 1 ? 0.0 : 2.0 * greater - (members - 1) * sum;
    crps[f] = (float)(off / members - spread / ((double)members * members));
}
