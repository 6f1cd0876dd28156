// Mean strength of the last w samples up to each sample (fewer at the start of the record).
extern "C" __global__ void dosage(const float* x, float* y, int n, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int from = max(0, i - w + 1);
    float sum = 0.0f;
    for (int k = from; k <= i; k++)
        sum += fabsf(x[k]);
    y[i] = sum / (float)(i - from + 1);
}
