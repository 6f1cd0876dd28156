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
// all parts belongs to none. Eight lanes have a point, and look at each part once before they write; most parts have
// nothing of a point, and are not written at all.
__global__ void gmm(const float* x, const float* mean, const float* narrow, const float* weight, float* share, float* like,
                    int n, int k, int dim) {
    const unsigned all = 0xffffffffu;
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 8, l = threadIdx.x % 8;
    bool in = i < n;
    const float* own = x + (in ? i : 0) * dim;
    float most = -INFINITY, sum = 0.f;
    for (size_t j = l; in && j < k; j += 8) {
        float v = part_of(own, mean + j * dim, narrow + j * dim, weight[j], dim);
        if (v == -INFINITY) continue;
        float next = fmaxf(most, v);
        if (next > most) sum *= expf(most - next);
        sum += expf(v - next);
        most = next;
    }
    float top = most;
    for (int o = 4; o; o /= 2) top = fmaxf(top, __shfl_xor_sync(all, top, o));
    if (top > most) sum *= expf(most - top);
    for (int o = 4; o; o /= 2) sum += __shfl_xor_sync(all, sum, o);
    if (!in) return;
    bool any = top > -INFINITY;
    for (size_t j = l; j < k; j += 8) {
        float less = part_of(own, mean + j * dim, narrow + j * dim, weight[j], dim) - top;
        if (!any)
            share[i * k + j] = 0.f;
        else if (!(less < -100.f))
            share[i * k + j] = expf(less) / sum;
    }
    if (l == 0) like[i] = any ? top + logf(sum) : -INFINITY;
}
