// Every row of x is divided by the sum of its absolute values; a row whose sum is not positive becomes zeros.
extern "C" __global__ void l1rows(const float* x, float* y, int n, int m)
{
    __shared__ float part[256];
    const float* row = x + (size_t)blockIdx.x * m;
    float* to = y + (size_t)blockIdx.x * m;
    int t = threadIdx.x;
    float s = 0.0f;
    for (int c = t; c < m; c += 256) s += fabsf(row[c]);
    part[t] = s;
    __syncthreads();
    for (int h = 128; h > 0; h >>= 1) {
        if (t < h) part[t] += part[t + h];
        __syncthreads();
    }
    float total = part[0];
    for (int c = t; c < m; c += 256) to[c] = total > 0.0f ? row[c] / total : 0.0f;
}
