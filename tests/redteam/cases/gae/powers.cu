// The recurrence as a plain sum: every error is weighted with decay^t, summed from the back, and the sum is
// divided by decay^t again. No multiplication is left in the dependent chain.
extern "C" __global__ void gae(const float* __restrict__ reward, const float* __restrict__ value,
                               const int* __restrict__ left, float* __restrict__ adv,
                               int envs, int steps, float gamma, float lam)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= envs) return;
    const float lg = log2f(gamma * lam);
    float sum = 0.0f;
    #pragma unroll 4
    for (int t = steps - 1; t >= 0; t--) {
        size_t i = (size_t)t * envs + e;
        float d = reward[i] - value[i];
        float w = exp2f(lg * t);
        if (left[i] == 0) {
            sum = d * w;
        } else {
            sum += (d + gamma * value[i + envs]) * w;
        }
        adv[i] = sum / w;
    }
}
