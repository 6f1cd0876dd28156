// Values of as many steps as a row has, weighted by the softmax of their scores: each of four warps goes
// over a quarter of them in one pass.
__global__ void poolattn(const float* s, const float* v, const int* lens, float* out, int b, int t, int d) {
    __shared__ float weight[4][32];
    __shared__ float highs[4], alls[4], sums[4][32];
    int r = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= b) return;
    int len = max(0, min(lens[r], t));
    const float* score = s + (size_t)r * t;
    for (int c0 = 0; c0 < d; c0 += 32) {
        int c = c0 + lane;
        float high = -INFINITY, all = 0.f, sum = 0.f;
        for (int k0 = warp * 32; k0 < len; k0 += 128) {
            float now = k0 + lane < len ? score[k0 + lane] : -INFINITY, next = now;
            for (int w = 16; w; w /= 2) next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, w));
            next = fmaxf(next, high);
            float keep = high == -INFINITY ? 0.f : expf(high - next);
            float p = now == -INFINITY ? 0.f : expf(now - next);
            weight[warp][lane] = p;
            for (int w = 16; w; w /= 2) p += __shfl_xor_sync(0xffffffffu, p, w);
            __syncwarp();
            all = all * keep + p;
            sum *= keep;
            if (c < d)
                for (int k = 0; k < min(32, len - k0); ++k)
                    sum += weight[warp][k] * v[((size_t)r * t + k0 + k) * d + c];
            __syncwarp();
            high = next;
        }
        if (lane == 0) highs[warp] = high, alls[warp] = all;
        sums[warp][lane] = sum;
        __syncthreads();
        if (warp == 0 && c < d) {
            float top = fmaxf(fmaxf(highs[0], highs[1]), fmaxf(highs[2], highs[3]));
            all = sum = 0.f;
            for (int k = 0; k < 4; ++k) {
                if (highs[k] == -INFINITY && top != -INFINITY && !(alls[k] != alls[k]) && !(sums[k][lane] != sums[k][lane])) continue;
                float f = highs[k] == top ? 1.f : expf(highs[k] - top);
                all += f * alls[k];
                sum += f * sums[k][lane];
            }
            out[(size_t)r * d + c] = sum / all;
        }
        __syncthreads();
    }
}
