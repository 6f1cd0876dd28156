// Mean strength of the last w samples up to each sample (fewer at the start of the record).
// Four neighbouring outputs per thread: what their windows have in common is summed once.
extern "C" __global__ void dosage(const float* x, float* y, int n, int w)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    int last = min(i + 3, n - 1);
    int shared_from = max(0, last - w + 1);
    float core = 0.0f;
    for (int k = shared_from; k <= i; k++)
        core += fabsf(x[k]);
    for (int j = i; j <= last; j++) {
        int from = max(0, j - w + 1);
        float sum = core;
        for (int k = from; k < shared_from && k <= j; k++)
            sum += fabsf(x[k]);
        for (int k = max(i + 1, shared_from); k <= j; k++)
            sum += fabsf(x[k]);
        y[j] = sum / (float)(j - from + 1);
    }
}
