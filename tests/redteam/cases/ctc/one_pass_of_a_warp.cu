// Connectionist temporal classification: minus the logarithm of the chance that a sequence of scores spells its letters,
// where each step gives a letter or the blank (symbol 0) and what is repeated without a blank between counts once.
__device__ float together(float a, float b) {
    float high = fmaxf(a, b), low = fminf(a, b);
    return high == -INFINITY ? high : high + log1pf(expf(low - high));
}


// What the scores of a step are divided by, by a warp in one pass: each lane keeps the largest that it has seen and the
// sum in terms of that. A lane begins with the sum of nothing.
__device__ float divisor(const float* row, int symbols, int lane) {
    float high = -INFINITY, sum = 0;
    for (int k = lane; k < symbols; k += 32) {
        float v = row[k], top = fmaxf(high, v);
        sum = sum * expf(high - top) + expf(v - top);
        high = top;
    }
    for (int step = 16; step; step /= 2) {
        float its = __shfl_xor_sync(~0u, high, step), many = __shfl_xor_sync(~0u, sum, step), top = fmaxf(high, its);
        sum = sum * expf(high - top) + many * expf(its - top);
        high = top;
    }
    return high + logf(sum);
}

__global__ void ctc(const float* logit, const int* label, const int* length, float* loss, int steps, int symbols,
                    int most) {
    extern __shared__ float alpha[];
    __shared__ float norm[32];
    int b = blockIdx.x, n = min(max(length[b], 0), most), states = 2 * n + 1;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const int* mine = label + (size_t)b * most;
    const float* all = logit + (size_t)b * steps * symbols;
    for (int first = 0; first < steps; first += warps) {
        if (first + warp < steps) {
            float d = divisor(all + (size_t)(first + warp) * symbols, symbols, lane);
            if (lane == 0) norm[warp] = d;
        }
        __syncthreads();
        for (int t = first; t < min(first + warps, steps); ++t) {
            const float* row = all + (size_t)t * symbols;
            float* now = alpha + (t & 1) * (2 * most + 1);
            const float* before = alpha + (~t & 1) * (2 * most + 1);
            for (int s = threadIdx.x; s < states; s += blockDim.x) {
                int letter = s & 1 ? min(max(mine[s / 2], 0), symbols - 1) : 0;
                float a = s < 2 ? 0 : -INFINITY;
                if (t) {
                    a = before[s];
                    if (s > 0) a = together(a, before[s - 1]);
                    if (s > 1 && (s & 1) && letter != min(max(mine[s / 2 - 1], 0), symbols - 1))
                        a = together(a, before[s - 2]);
                }
                now[s] = a + (row[letter] - norm[t - first]);
            }
            __syncthreads();
        }
    }
    if (threadIdx.x) return;
    const float* last = alpha + ((steps - 1) & 1) * (2 * most + 1);
    loss[b] = -(n ? together(last[2 * n], last[2 * n - 1]) : last[0]);
}
