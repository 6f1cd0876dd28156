// Moving average over up to 2*r+1 samples of a row; at the ends over those that exist.
// Sums of 1, 2, 4, ... neighbours, each from the ones before; a window is made of those in its length.
__global__ void boxcar(const float* x, float* y, int n, int r)
{
    extern __shared__ float s[];            // 256 + 2*r
    const float* row = x + (size_t)blockIdx.y * n;
    int tile = blockIdx.x * 256;
    int len = 256 + 2 * r, w = 2 * r + 1;
    for (int k = threadIdx.x; k < len; k += 256) {
        int j = tile - r + k;
        s[k] = j >= 0 && j < n ? row[j] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    int at = threadIdx.x;
    for (int h = 1; h <= w; h *= 2) {
        if (w & h) {
            sum += s[at];
            at += h;
        }
        __syncthreads();
        for (int k0 = 0; k0 < len; k0 += 256) {
            int k = k0 + threadIdx.x;
            float v = 0.0f;
            if (k < len) v = s[k] + (k + h < len ? s[k + h] : 0.0f);
            __syncthreads();
            if (k < len) s[k] = v;
        }
        __syncthreads();
    }
    int i = tile + threadIdx.x;
    if (i >= n) return;
    int from = max(i - r, 0), to = min(i + r, n - 1);
    y[(size_t)blockIdx.y * n + i] = sum / (float)(to - from + 1);
}
