__global__ void clipnorm(float* g, float* norm, int rows, int cols, float limit) {
    __shared__ float part[128];
    int r = blockIdx.x, t = threadIdx.x;
    float* row = g + (size_t)r * cols;
    float s = 0.f;
    for (int c = t; c < cols; c += 128) s += row[c] * row[c];
    part[t] = s;
    __syncthreads();
    for (int w = 64; w; w /= 2) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    float length = sqrtf(part[0]);
    if (t == 0) norm[r] = length;
    float factor = length > limit ? limit / length : 1.f;
    for (int c = t; c < cols; c += 128) row[c] *= factor;
}
