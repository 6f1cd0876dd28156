// The vector less its mean, divided by its standard deviation.
__device__ double all(double v) {
    __shared__ double parts[1024];
    parts[threadIdx.x] = v;
    __syncthreads();
    for (int d = 512; d > 0; d /= 2) {
        if (threadIdx.x < d) parts[threadIdx.x] += parts[threadIdx.x + d];
        __syncthreads();
    }
    v = parts[0];
    __syncthreads();
    return v;
}

__global__ void whiten(const float* x, float* y, int n, float eps) {
    double s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += 1024) s += x[i];
    double mean = all(s) / n;
    for (int i = threadIdx.x; i < n; i += 1024) q += (x[i] - mean) * (x[i] - mean);
    double scale = 1.0 / sqrt(all(q) / n + eps);
    for (int i = threadIdx.x; i < n; i += 1024) y[i] = (float)((x[i] - mean) * scale);
}
