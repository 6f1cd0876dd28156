// Connectionist temporal classification: minus the logarithm of the chance that a sequence of scores spells its letters,
// where each step gives a letter or the blank (symbol 0) and what is repeated without a blank between counts once.
__device__ float together(float a, float b) {
    float high = fmaxf(a, b), low = fminf(a, b);
    return high == -INFINITY ? high : high + log1pf(expf(low - high));
}

__global__ void ctc(const float* logit, const int* label, const int* length, float* loss, int steps, int symbols,
                    int most) {
    extern __shared__ float alpha[];
    __shared__ float norm;
    int b = blockIdx.x, n = min(max(length[b], 0), most), states = 2 * n + 1;
    const int* mine = label + (size_t)b * most;
    for (int t = 0; t < steps; ++t) {
        const float* row = logit + ((size_t)b * steps + t) * symbols;
        if (threadIdx.x == 0) {
            float high = -INFINITY, sum = 0;
            for (int k = 0; k < symbols; ++k) high = fmaxf(high, row[k]);
            for (int k = 0; k < symbols; ++k) sum += expf(row[k] - high);
            norm = high + logf(sum);
        }
        __syncthreads();
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
            now[s] = a + (row[letter] - norm);
        }
        __syncthreads();
    }
    if (threadIdx.x) return;
    const float* last = alpha + ((steps - 1) & 1) * (2 * most + 1);
    loss[b] = -(n ? together(last[2 * n], last[2 * n - 1]) : last[0]);
}
