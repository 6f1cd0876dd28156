// No branch in the loop: the end of an episode is a factor of 0 on everything that comes later.
extern "C" __global__ void gae(const float* __restrict__ reward, const float* __restrict__ value,
                               const int* __restrict__ left, float* __restrict__ adv,
                               int envs, int steps, float gamma, float lam)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= envs) return;
    float after = value[(size_t)steps * envs + e];
    float next = 0.0f;
    #pragma unroll 4
    for (int t = steps - 1; t >= 0; t--) {
        size_t i = (size_t)t * envs + e;
        float going = left[i] == 0 ? 0.0f : gamma;
        float v = value[i];
        next = reward[i] - v + going * (after + lam * next);
        after = v;
        adv[i] = next;
    }
}
