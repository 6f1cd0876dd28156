// 32 environments a block, time in eight chunks. A chunk is first run with nothing behind it; what comes
// in from behind is weighted with the product of its decays, which an episode end inside the chunk makes 0.
extern "C" __global__ void gae(const float* reward, const float* value, const int* left, float* adv,
                               int envs, int steps, float gamma, float lam)
{
    __shared__ float sum[8][32], weight[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    int e = blockIdx.x * 32 + x;
    int len = (steps + 7) / 8;
    int t0 = min(y * len, steps), t1 = min(t0 + len, steps);
    const float decay = gamma * lam;

    if (e < envs) {
        float a = 0.0f, w = 1.0f;
        for (int t = t1 - 1; t >= t0; t--) {
            size_t i = (size_t)t * envs + e;
            float d = reward[i] - value[i];
            if (left[i] == 0) {
                a = d;
                w = 0.0f;
            } else {
                a = d + gamma * value[i + envs] + decay * a;
                w *= decay;
            }
        }
        sum[y][x] = a;
        weight[y][x] = w;
    }
    __syncthreads();
    if (e >= envs) return;

    float next = 0.0f;
    for (int k = 7; k > y; k--) next = sum[k][x] + weight[k][x] * next;
    for (int t = t1 - 1; t >= t0; t--) {
        size_t i = (size_t)t * envs + e;
        float d = reward[i] - value[i];
        next = left[i] == 0 ? d : d + gamma * value[i + envs] + decay * next;
        adv[i] = next;
    }
}
