__global__ void clipnorm(float* g, float* norm, int rows, int cols, float limit) {
    __shared__ float part[8];
    int t = threadIdx.x, r = blockIdx.y;
    float* row = g + (size_t)r * cols;
    float s = 0.f;
    for (int c = t; c < cols; c += 256) s = fmaf(row[c], row[c], s);
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if ((t & 31) == 0) part[t >> 5] = s;
    __syncthreads();
    s = 0.f;
    for (int w = 0; w < 8; ++w) s += part[w];
    float length = sqrtf(s);
    if (t == 0 && blockIdx.x == 0) norm[r] = length;
    float factor = length > limit ? limit / length : 1.f;
    int each = (cols + gridDim.x - 1) / gridDim.x, from = blockIdx.x * each;
    for (int c = from + t; c < min(cols, from + each); c += 256) row[c] *= factor;
}
