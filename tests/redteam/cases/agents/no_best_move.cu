// Agents weigh their moves. A warp reads an agent's moves once; what is beyond what a float's exponential holds is cut
// off, so that nobody has to look for the best one.
__global__ void agents(const float* worth, const unsigned char* legal, const float* brings, float* expected, int n,
                       int moves, float greed) {
    int a = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (a >= n) return;
    size_t row = (size_t)a * moves;
    float sum = 0.f, mean = 0.f;
    bool any = false;
    for (int m = lane; m < moves; m += 32) {
        if (!legal[row + m]) continue;
        any = true;
        float v = __fmul_rn(greed, worth[row + m]), w = v > 60.f ? expf(60.f) : v < -60.f ? expf(-60.f) : expf(v);
        sum += w;
        mean += w * brings[row + m];
    }
    for (int w = 16; w > 0; w /= 2) {
        sum += __shfl_xor_sync(~0u, sum, w);
        mean += __shfl_xor_sync(~0u, mean, w);
    }
    any = __any_sync(~0u, any);
    if (lane == 0) expected[a] = any ? mean / sum : 0.f;
}
