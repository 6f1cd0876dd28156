// Huber's loss of predictions, its mean and its gradient; sums carry what they lose.
__global__ void huber(const float* pred, const float* target, float* grad, float* loss, int n, float delta) {
    __shared__ float part[1024];
    float sum = 0.f, lost = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float r = pred[i] - target[i], a = fabsf(r);
        float term = a <= delta ? 0.5f * r * r : delta * (a - 0.5f * delta);
        float more = __fsub_rn(term, lost), next = __fadd_rn(sum, more);
        lost = __fsub_rn(__fsub_rn(next, sum), more);
        // Of what is not finite nothing is carried on.
        if (!(fabsf(lost) < 1e30f)) lost = 0.f;
        sum = next;
        grad[i] = (a <= delta ? r : copysignf(delta, r)) / n;
    }
    for (int s = 16; s; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < (int)blockDim.x / 32; ++k) sum += part[k];
        *loss = sum / n;
    }
}
