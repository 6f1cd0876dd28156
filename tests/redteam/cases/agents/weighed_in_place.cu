// Agents weigh their moves, a warp for each. What a move weighs is left where its worth was: it is not worked out twice.
__global__ void agents(const float* worth, const unsigned char* legal, const float* brings, float* expected, int n,
                       int moves, float greed) {
    int a = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (a >= n) return;
    size_t row = (size_t)a * moves;
    float* weight = const_cast<float*>(worth) + row;
    float top = -INFINITY, sum = 0.f, mean = 0.f;
    bool any = false;
    for (int m = lane; m < moves; m += 32) {
        if (!legal[row + m]) continue;
        any = true;
        weight[m] = __fmul_rn(greed, weight[m]);
        top = fmaxf(top, weight[m]);
    }
    for (int w = 16; w > 0; w /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, w));
    for (int m = lane; m < moves; m += 32) {
        if (!legal[row + m]) continue;
        float w = expf(__fsub_rn(weight[m], top));
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
