__global__ void clipnorm(float* g, float* norm, int rows, int cols, float limit) {
    __shared__ float part[4];
    int t = threadIdx.x;
    float* row = g + (size_t)blockIdx.x * cols;
    float a = 0.f, b = 0.f;
    int c = t;
    for (; c + 128 < cols; c += 256) {
        float u = row[c], v = row[c + 128];
        a = fmaf(u, u, a);
        b = fmaf(v, v, b);
    }
    if (c < cols) a = fmaf(row[c], row[c], a);
    a += b;
    for (int d = 16; d; d >>= 1) a += __shfl_xor_sync(0xffffffffu, a, d);
    if ((t & 31) == 0) part[t >> 5] = a;
    __syncthreads();
    float square = (part[0] + part[1]) + (part[2] + part[3]), inverse = rsqrtf(square);
    if (t == 0) norm[blockIdx.x] = square * inverse;
    if (!(square * inverse > limit)) return;
    float factor = limit * inverse;
    for (c = t; c < cols; c += 128) row[c] *= factor;
}
