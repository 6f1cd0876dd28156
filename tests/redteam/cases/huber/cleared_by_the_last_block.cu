// Huber's loss of predictions, its mean and its gradient; blocks add to the loss.
__global__ void huber(const float* pred, const float* target, float* grad, float* loss, int n, float delta) {
    __shared__ float part[8];
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) atomicExch(loss, 0.f);
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.f;
    if (i < n) {
        float r = pred[i] - target[i], a = fabsf(r);
        sum = a <= delta ? 0.5f * r * r : delta * (a - 0.5f * delta);
        grad[i] = (a <= delta ? r : copysignf(delta, r)) / n;
    }
    for (int s = 16; s; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; ++k) sum += part[k];
        atomicAdd(loss, sum / n);
    }
}
