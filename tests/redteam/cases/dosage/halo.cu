// Mean strength of the last w samples up to each sample (fewer at the start of the record).
// The block's samples and the w - 1 before them are staged in shared memory.
extern "C" __global__ void dosage(const float* x, float* y, int n, int w)
{
    extern __shared__ float tile[];
    int base = blockIdx.x * blockDim.x - (w - 1);
    int len = blockDim.x + w - 1;
    for (int t = threadIdx.x; t < len; t += blockDim.x) {
        int k = base + t;
        tile[t] = k >= 0 && k < n ? fabsf(x[k]) : 0.0f;
    }
    __syncthreads();

    float sum = 0.0f;
    for (int t = 0; t < w; t++)
        sum += tile[threadIdx.x + t];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = sum / (float)min(i + 1, w);
}
