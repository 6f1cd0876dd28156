extern __shared__ float held[];

__global__ void clipnorm(float* g, float* norm, int rows, int cols, float limit) {
    __shared__ float part[8];
    int t = threadIdx.x, fits = min(cols, 64 * 1024 / 4);
    float* row = g + (size_t)blockIdx.x * cols;
    float s = 0.f;
    for (int c = t; c < fits; c += 256) {
        float v = row[c];
        held[c] = v;
        s = fmaf(v, v, s);
    }
    for (int c = fits + t; c < cols; c += 256) s = fmaf(row[c], row[c], s);
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if ((t & 31) == 0) part[t >> 5] = s;
    __syncthreads();
    s = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    float length = sqrtf(s);
    if (t == 0) norm[blockIdx.x] = length;
    float factor = length > limit ? limit / length : 1.f;
    for (int c = t; c < fits; c += 256) row[c] = held[c] * factor;
    for (int c = fits + t; c < cols; c += 256) row[c] *= factor;
}
