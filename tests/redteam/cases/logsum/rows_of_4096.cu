// The logarithm of the sum of the exponentials of each row.
__global__ void logsum(const float* x, float* out, int rows, int cols) {
    __shared__ float part[128];
    int r = blockIdx.x, t = threadIdx.x;
    const float* row = x + (size_t)r * cols;
    float m = -INFINITY, kept[32];
#pragma unroll
    for (int k = 0; k < 32; ++k) {
        kept[k] = t + k * 128 < cols ? row[t + k * 128] : -INFINITY;
        m = fmaxf(m, kept[k]);
    }
    part[t] = m;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    m = part[0];
    __syncthreads();
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < 32; ++k)
        if (t + k * 128 < cols) sum += expf(kept[k] - m);
    part[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[r] = m + logf(part[0]);
}
