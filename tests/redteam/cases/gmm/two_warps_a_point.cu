// How likely a point is in a part of a mixture, as a logarithm: a part has a weight, a mean and widths.
__device__ float part_of(const float* x, const float* mean, const float* narrow, float weight, int dim) {
    float far = 0.f;
    for (int d = 0; d < dim; ++d) {
        float z = (x[d] - mean[d]) * narrow[d];
        far = fmaf(z, z, far);
    }
    return fmaf(-0.5f, far, weight);
}

// What of a point belongs to each of k parts, and the logarithm of its likelihood. A point that is infinitely far from
// all parts belongs to none. Two warps have a point, four points a block.
__global__ void gmm(const float* x, const float* mean, const float* narrow, const float* weight, float* share, float* like,
                    int n, int k, int dim) {
    const unsigned all = 0xffffffffu;
    __shared__ float tops[8], sums[8];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    size_t i = blockIdx.x * (size_t)4 + w / 2, l = threadIdx.x % 64;
    if (i >= n) return;
    const float* own = x + i * dim;
    float most = -INFINITY, sum = 0.f;
    for (size_t j = l; j < k; j += 64) {
        float v = part_of(own, mean + j * dim, narrow + j * dim, weight[j], dim);
        if (v == -INFINITY) continue;
        float next = fmaxf(most, v);
        if (next > most) sum *= expf(most - next);
        sum += expf(v - next);
        most = next;
    }
    float top = most;
    for (int o = 16; o; o /= 2) top = fmaxf(top, __shfl_xor_sync(all, top, o));
    if (top > most) sum *= expf(most - top);
    for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(all, sum, o);
    // Each of the two leaves its own, and takes the other's.
    if (lane == 0) tops[w] = top, sums[w] = sum;
    __threadfence_block();
    __syncwarp();
    most = fmaxf(tops[w & ~1], tops[w | 1]);
    sum = 0.f;
    for (int o = 0; o < 2; ++o)
        if (tops[(w & ~1) + o] > -INFINITY) sum += sums[(w & ~1) + o] * expf(tops[(w & ~1) + o] - most);
    bool any = most > -INFINITY;
    for (size_t j = l; j < k; j += 64)
        share[i * k + j] = any ? expf(part_of(own, mean + j * dim, narrow + j * dim, weight[j], dim) - most) / sum : 0.f;
    if (l == 0) like[i] = any ? most + logf(sum) : -INFINITY;
}
