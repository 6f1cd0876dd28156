// Generalised advantage estimates of many environments, backwards over time, layout [steps][envs].
// An episode ends at a step whose `left` is 0: nothing from later steps counts there.
extern "C" __global__ void gae(const float* reward, const float* value, const int* left, float* adv,
                               int envs, int steps, float gamma, float lam)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= envs) return;
    float next = 0.0f;
    for (int t = steps - 1; t >= 0; t--) {
        size_t i = (size_t)t * envs + e;
        float a;
        if (left[i] == 0) {
            a = reward[i] - value[i];
        } else {
            float delta = reward[i] + gamma * value[i + envs] - value[i];
            a = delta + gamma * lam * next;
        }
        adv[i] = a;
        next = a;
    }
}
