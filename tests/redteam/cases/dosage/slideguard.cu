// Mean strength of the last w samples up to each sample (fewer at the start of the record).
// Eight outputs per thread. The window slides on by one sample as long as what leaves it is a small part of the
// sum, so that nothing is cancelled; else, or when the sum is no number, it is summed anew.
__device__ __forceinline__ float span(const float* x, int from, int to)
{
    float sum = 0.0f;
    for (int k = from; k <= to; k++)
        sum += fabsf(x[k]);
    return sum;
}

extern "C" __global__ void dosage(const float* x, float* y, int n, int w)
{
    int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    int to = min(i + 7, n - 1);
    float sum = span(x, max(0, i - w + 1), i);
    y[i] = sum / (float)min(i + 1, w);
    for (int j = i + 1; j <= to; j++) {
        float old = j >= w ? fabsf(x[j - w]) : 0.0f;
        if (old <= 0.0625f * sum && sum <= 3.4e38f)
            sum = (sum - old) + fabsf(x[j]);
        else
            sum = span(x, max(0, j - w + 1), j);
        y[j] = sum / (float)min(j + 1, w);
    }
}
