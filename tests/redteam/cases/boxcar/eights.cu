// Moving average over up to 2*r+1 samples of a row; at the ends over those that exist.
// Eights of samples at multiples of eight are summed up once.
__global__ void boxcar(const float* x, float* y, int n, int r)
{
    extern __shared__ float s[];            // 256 + 2*r samples, then (256 + 2*r) / 8 sums
    const float* row = x + (size_t)blockIdx.y * n;
    int tile = blockIdx.x * 256;
    int len = 256 + 2 * r;
    float* eight = s + len;
    for (int k = threadIdx.x; k < len; k += 256) {
        int j = tile - r + k;
        s[k] = j >= 0 && j < n ? row[j] : 0.0f;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < len / 8; e += 256) {
        const float* q = s + 8 * e;
        eight[e] = ((q[0] + q[1]) + (q[2] + q[3])) + ((q[4] + q[5]) + (q[6] + q[7]));
    }
    __syncthreads();
    int i = tile + threadIdx.x;
    if (i >= n) return;
    int k = threadIdx.x, end = k + 2 * r + 1;
    float sum = 0.0f;
    while (k < end && (k & 7)) sum += s[k++];
    for (; k + 8 <= end; k += 8) sum += eight[k >> 3];
    while (k < end) sum += s[k++];
    int from = max(i - r, 0), to = min(i + r, n - 1);
    y[(size_t)blockIdx.y * n + i] = sum * (1.0f / (float)(to - from + 1));
}
