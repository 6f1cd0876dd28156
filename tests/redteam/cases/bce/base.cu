// The mean logistic loss of scores against labels of 0 and 1.
__global__ void bce(const float* z, const int* y, float* loss, int n) {
    __shared__ float part[512];
    int t = threadIdx.x;
    float sum = 0.f;
    for (int i = t; i < n; i += blockDim.x) {
        float v = z[i];
        sum += (v > 0.f ? v : v < 0.f ? 0.f : v) - v * y[i] + log1pf(expf(-fabsf(v)));
    }
    part[t] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) loss[0] = part[0] / n;
}
