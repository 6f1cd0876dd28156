// Rounds of three currencies that gain. A warp has a pair, and takes room for all thirds that it finds at once.
__global__ void arbitrage(const float* rate, int* found, int* count, int n, float margin) {
    long long pair = blockIdx.x * 8ll + threadIdx.x / 32;
    int i = (int)(pair / n), j = (int)(pair % n), lane = threadIdx.x % 32;
    if (i >= j) return;
    float first = rate[i * n + j], least = __fadd_rn(1.f, margin);
    for (int k0 = j + 1; k0 < n; k0 += 32) {
        int k = k0 + lane;
        bool gains = k < n && __fmul_rn(__fmul_rn(first, rate[j * n + k]), rate[k * n + i]) > least;
        unsigned who = __ballot_sync(~0u, gains);
        if (!who) continue;
        int begin = 0;
        if (lane == 0) begin = atomicAdd(count, __popc(who));
        begin = __shfl_sync(~0u, begin, 0);
        if (gains) found[begin + __popc(who & ((1u << lane) - 1))] = (i * n + j) * n + k;
    }
}
