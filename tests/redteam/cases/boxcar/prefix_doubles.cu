// Moving average over up to 2*r+1 samples of a row; at the ends over those that exist.
// A tile and its margins are summed up once, in doubles; each window is a difference.
__global__ void boxcar(const float* x, float* y, int n, int r)
{
    extern __shared__ double acc[];
    const float* row = x + (size_t)blockIdx.y * n;
    int tile = blockIdx.x * 256;
    int len = 256 + 2 * r;
    if (threadIdx.x < 32) {
        double carry = 0.0;
        for (int k = 0; k < len; k += 32) {
            int j = tile - r + k + (int)threadIdx.x;
            double v = (k + (int)threadIdx.x < len && j >= 0 && j < n) ? (double)row[j] : 0.0;
            for (int d = 1; d < 32; d *= 2) {
                double u = __shfl_up_sync(0xffffffffu, v, d);
                if ((int)threadIdx.x >= d) v += u;
            }
            v += carry;
            if (k + (int)threadIdx.x < len) acc[k + threadIdx.x + 1] = v;
            carry = __shfl_sync(0xffffffffu, v, 31);
        }
        if (threadIdx.x == 0) acc[0] = 0.0;
    }
    __syncthreads();
    int i = tile + threadIdx.x;
    if (i >= n) return;
    int from = max(i - r, 0), to = min(i + r, n - 1);
    double s = acc[threadIdx.x + 2 * r + 1] - acc[threadIdx.x];
    y[(size_t)blockIdx.y * n + i] = (float)s / (float)(to - from + 1);
}
