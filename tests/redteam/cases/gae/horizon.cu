// Time in stretches of 128 steps, one thread each. The decay over 256 steps is 1.5e-7, so a stretch starts
// 256 steps behind its end with nothing, and what lies further back is below float rounding.
#define STRETCH 128
#define BEHIND 256

extern "C" __global__ void gae(const float* __restrict__ reward, const float* __restrict__ value,
                               const int* __restrict__ left, float* __restrict__ adv,
                               int envs, int steps, float gamma, float lam)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= envs) return;
    int t0 = blockIdx.y * STRETCH;
    int t1 = min(t0 + STRETCH, steps);
    float next = 0.0f;
    for (int t = min(t1 + BEHIND, steps) - 1; t >= t0; t--) {
        size_t i = (size_t)t * envs + e;
        float a = reward[i] - value[i];
        if (left[i] != 0) a += gamma * value[i + envs] + gamma * lam * next;
        if (t < t1) adv[i] = a;
        next = a;
    }
}
