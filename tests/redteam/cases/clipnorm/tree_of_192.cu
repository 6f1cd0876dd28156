__global__ void clipnorm(float* g, float* norm, int rows, int cols, float limit) {
    __shared__ float part[192];
    int r = blockIdx.x, t = threadIdx.x;
    float* row = g + (size_t)r * cols;
    float s = 0.f;
    for (int c = t; c < cols; c += 192) s += row[c] * row[c];
    part[t] = s;
    __syncthreads();
    for (int w = 96; w; w /= 2) {
        if (t < w) part[t] += part[t + w];
        __syncthreads();
    }
    float length = sqrtf(part[0]);
    if (t == 0) norm[r] = length;
    float factor = length > limit ? limit / length : 1.f;
    for (int c = t; c < cols; c += 192) row[c] *= factor;
}
