// Two environments a thread, with 8-byte accesses where the number of environments is even. Launched as
// before: the upper half of the threads has nothing to do.
__device__ __forceinline__ float back(float r, float v, float after, bool end, float next, float gamma, float decay)
{
    float plain = r - v;
    return end ? plain : plain + gamma * after + decay * next;
}

extern "C" __global__ void gae(const float* __restrict__ reward, const float* __restrict__ value,
                               const int* __restrict__ left, float* __restrict__ adv,
                               int envs, int steps, float gamma, float lam)
{
    int e = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (e >= envs) return;
    const float decay = gamma * lam;
    size_t i = (size_t)steps * envs + e;
    if ((envs & 1) == 0) {
        float2 after = *(const float2*)(value + i);
        float2 next = make_float2(0.0f, 0.0f);
        for (int t = steps; t > 0; t--) {
            i -= envs;
            float2 r = *(const float2*)(reward + i);
            float2 v = *(const float2*)(value + i);
            int2 l = *(const int2*)(left + i);
            next.x = back(r.x, v.x, after.x, l.x == 0, next.x, gamma, decay);
            next.y = back(r.y, v.y, after.y, l.y == 0, next.y, gamma, decay);
            after = v;
            *(float2*)(adv + i) = next;
        }
    } else {
        bool both = e + 1 < envs;
        float p = 0.0f, q = 0.0f;
        for (int t = steps; t > 0; t--) {
            size_t j = i;
            i -= envs;
            p = back(reward[i], value[i], value[j], left[i] == 0, p, gamma, decay);
            adv[i] = p;
            if (both) {
                q = back(reward[i + 1], value[i + 1], value[j + 1], left[i + 1] == 0, q, gamma, decay);
                adv[i + 1] = q;
            }
        }
    }
}
