// Huber's loss of predictions, its mean and its gradient.
__global__ void huber(const float* pred, const float* target, float* grad, float* loss, int n, float delta) {
    __shared__ float part[1024];
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float r = pred[i] - target[i], a = fabsf(r);
        sum += a <= delta ? 0.5f * r * r : delta * (a - 0.5f * delta);
        grad[i] = (a <= delta ? r : copysignf(delta, r)) / n;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int w = blockDim.x / 2; w; w /= 2) {
        if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) *loss = part[0] / n;
}
