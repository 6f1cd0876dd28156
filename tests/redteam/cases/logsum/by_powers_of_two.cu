// The logarithm of the sum of the exponentials of each row.
__global__ void logsum(const float* x, float* out, int rows, int cols) {
    __shared__ float part[128];
    int r = blockIdx.x, t = threadIdx.x;
    const float* row = x + (size_t)r * cols;
    float m = -INFINITY;
    for (int c = t; c < cols; c += 128) m = fmaxf(m, row[c]);
    part[t] = m;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    m = part[0];
    __syncthreads();
    float sum = 0.f;
    for (int c = t; c < cols; c += 128) sum += exp2f((row[c] - m) * 1.44269504f);
    part[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[r] = m + 0.69314718f * log2f(part[0]);
}
