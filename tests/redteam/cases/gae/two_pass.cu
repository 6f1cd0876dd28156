// 32 environments a block: eight warps put the one-step errors into the output, then one warp runs the
// recurrence over them in place.
extern "C" __global__ void gae(const float* reward, const float* value, const int* left, float* adv,
                               int envs, int steps, float gamma, float lam)
{
    int e = blockIdx.x * 32 + threadIdx.x;
    if (e < envs) {
        for (int t = threadIdx.y; t < steps; t += 8) {
            size_t i = (size_t)t * envs + e;
            float d = reward[i] - value[i];
            if (left[i] != 0) d += gamma * value[i + envs];
            adv[i] = d;
        }
    }
    __syncthreads();
    if (threadIdx.y != 0 || e >= envs) return;
    float next = 0.0f;
    #pragma unroll 4
    for (int t = steps - 1; t >= 0; t--) {
        size_t i = (size_t)t * envs + e;
        next = left[i] == 0 ? adv[i] : adv[i] + gamma * lam * next;
        adv[i] = next;
    }
}
