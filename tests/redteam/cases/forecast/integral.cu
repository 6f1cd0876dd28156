// The continuous ranked probability score of ensemble forecasts: how far members are from what was seen, less half
// of how far they are from each other. That is the area between the two distributions' squares; members are sorted
// by their ranks, a block for each forecast.

__global__ void forecast(const float* member, const float* seen, float* crps, int forecasts, int members)
{
    extern __shared__ float room[];
    __shared__ double part[64];
    float* raw = room;
    float* sorted = room + members;
    const int f = blockIdx.x;
    const float* row = member + (size_t)f * members;
    const double y = seen[f];
    int odd = !isfinite(y);
    for (int i = threadIdx.x; i < members; i += 64) {
        raw[i] = row[i];
        odd |= !isfinite(raw[i]);
    }
    if (__syncthreads_or(odd)) {
        if (threadIdx.x == 0) {
            double off = 0.0, spread = 0.0;
            for (int i = 0; i < members; ++i) {
                const double x = row[i];
                off += fabs(x - y);
                for (int j = i + 1; j < members; ++j) spread += fabs(x - (double)row[j]);
            }
            crps[f] = (float)(off / members - spread / ((double)members * members));
        }
        return;
    }
    for (int i = threadIdx.x; i < members; i += 64) {
        const float x = raw[i];
        int rank = 0;
        for (int j = 0; j < members; ++j) rank += raw[j] < x || (raw[j] == x && j < i);
        sorted[rank] = x;
    }
    __syncthreads();
    double sum = 0.0;
    for (int k = threadIdx.x; k < members - 1; k += 64) {
        const double low = sorted[k], high = sorted[k + 1];
        const double cut = fmin(fmax(y, low), high);
        const double below = (double)(k + 1) / members, above = (double)(members - 1 - k) / members;
        sum += below * below * (cut - low) + above * above * (high - cut);
    }
    if (threadIdx.x == 0) sum += fmax(0.0, sorted[0] - y) + fmax(0.0, y - sorted[members - 1]);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 32; step; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) crps[f] = (float)part[0];
}
