// Mean strength of the last w samples up to each sample (fewer at the start of the record).
// Differences of running sums within the block's piece; in double, so that nothing is lost by the subtraction.
extern "C" __global__ void dosage(const float* x, float* y, int n, int w)
{
    extern __shared__ double room[];
    int base = blockIdx.x * blockDim.x - (w - 1);
    int len = blockDim.x + w - 1;
    double* have = room;
    double* next = room + len;

    for (int t = threadIdx.x; t < len; t += blockDim.x) {
        int k = base + t;
        have[t] = k >= 0 && k < n ? (double)fabsf(x[k]) : 0.0;
    }
    __syncthreads();
    for (int step = 1; step < len; step *= 2) {
        for (int t = threadIdx.x; t < len; t += blockDim.x)
            next[t] = t >= step ? have[t] + have[t - step] : have[t];
        __syncthreads();
        double* swap = have;
        have = next;
        next = swap;
    }

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double before = threadIdx.x > 0 ? have[threadIdx.x - 1] : 0.0;
        float sum = (float)(have[threadIdx.x + w - 1] - before);
        y[i] = sum / (float)min(i + 1, w);
    }
}
