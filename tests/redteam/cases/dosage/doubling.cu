// Mean strength of the last w samples up to each sample (fewer at the start of the record).
// The window is put together from sums over 1, 2, 4 ... samples, one for each bit of w. Samples before the record
// or before the block's piece of it count as zero.
extern "C" __global__ void dosage(const float* x, float* y, int n, int w)
{
    extern __shared__ float room[];
    int base = blockIdx.x * blockDim.x - (w - 1);
    int len = blockDim.x + w - 1;
    float* have = room;
    float* next = room + len;

    for (int t = threadIdx.x; t < len; t += blockDim.x) {
        int k = base + t;
        have[t] = k >= 0 && k < n ? fabsf(x[k]) : 0.0f;
    }
    __syncthreads();

    float sum = 0.0f;
    int covered = 0;
    int mine = threadIdx.x + w - 1;
    for (int width = 1; ; width *= 2) {
        if (w & width) {
            sum += have[mine - covered];
            covered += width;
        }
        if (covered == w)
            break;
        for (int t = threadIdx.x; t < len; t += blockDim.x)
            next[t] = t >= width ? have[t] + have[t - width] : have[t];
        __syncthreads();
        float* swap = have;
        have = next;
        next = swap;
    }

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = sum / (float)min(i + 1, w);
}
