// Eight steps are loaded ahead of the dependent chain; the value of the step after is kept in a register.
// A runaway estimate starts over from the plain error.
#define AHEAD 8

extern "C" __global__ void gae(const float* __restrict__ reward, const float* __restrict__ value,
                               const int* __restrict__ left, float* __restrict__ adv,
                               int envs, int steps, float gamma, float lam)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= envs) return;
    const float decay = gamma * lam;
    float after = value[(size_t)steps * envs + e];
    float next = 0.0f;
    int t = steps;
    while (t >= AHEAD) {
        t -= AHEAD;
        float r[AHEAD], v[AHEAD];
        bool end[AHEAD];
        #pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            size_t i = (size_t)(t + k) * envs + e;
            r[k] = reward[i];
            v[k] = value[i];
            end[k] = left[i] == 0;
        }
        #pragma unroll
        for (int k = AHEAD - 1; k >= 0; k--) {
            float plain = r[k] - v[k];
            float going = fmaf(gamma, after, plain) + decay * next;
            next = end[k] || !isfinite(going) ? plain : going;
            after = v[k];
            adv[(size_t)(t + k) * envs + e] = next;
        }
    }
    while (t > 0) {
        t--;
        size_t i = (size_t)t * envs + e;
        float plain = reward[i] - value[i];
        float going = fmaf(gamma, after, plain) + decay * next;
        next = left[i] == 0 || !isfinite(going) ? plain : going;
        after = value[i];
        adv[i] = next;
    }
}
