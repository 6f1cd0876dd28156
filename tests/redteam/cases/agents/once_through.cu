// Agents weigh their moves. A warp reads an agent's moves once: each lane has sums that belong to the best move it has
// met, and makes them smaller where a better one comes.
__global__ void agents(const float* worth, const unsigned char* legal, const float* brings, float* expected, int n,
                       int moves, float greed) {
    int a = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (a >= n) return;
    size_t row = (size_t)a * moves;
    float top = -INFINITY, sum = 0.f, mean = 0.f;
    bool any = false;
    for (int m = lane; m < moves; m += 32) {
        if (!legal[row + m]) continue;
        any = true;
        float v = __fmul_rn(greed, worth[row + m]);
        if (v > top) {
            float less = expf(__fsub_rn(top, v));
            sum *= less;
            mean *= less;
            top = v;
        }
        // Two that are infinitely bad have no difference.
        float w = v == -INFINITY && top == -INFINITY ? 0.f : expf(__fsub_rn(v, top));
        sum += w;
        mean += w * brings[row + m];
    }
    for (int w = 16; w > 0; w /= 2) {
        float other = __shfl_xor_sync(~0u, top, w), both = fmaxf(top, other);
        float own = top == both ? 1.f : expf(__fsub_rn(top, both)), its = other == both ? 1.f : expf(__fsub_rn(other, both));
        sum = sum * own + __shfl_xor_sync(~0u, sum, w) * its;
        mean = mean * own + __shfl_xor_sync(~0u, mean, w) * its;
        top = both;
    }
    any = __any_sync(~0u, any);
    if (lane == 0) expected[a] = any ? mean / sum : 0.f;
}
