// Geometric mean of every row: exp of the mean logarithm. A zero makes it 0, an infinity infinite, both together
// or a negative number NaN. A block per row.
extern "C" __global__ void geomean(const float* x, float* out, int rows, int cols)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = tid; c < cols; c += 256) sum += logf(row[c]);
    s[tid] = sum;
    __syncthreads();
    for (int h = 128; h > 0; h >>= 1) {
        if (tid < h) s[tid] += s[tid + h];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = expf(s[0] / cols);
}
