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
// all parts belongs to none.
__global__ void gmm(const float* x, const float* mean, const float* narrow, const float* weight, float* share, float* like,
                    int n, int k, int dim) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float most = -INFINITY, sum = 0.f;
    for (size_t j = 0; j < k; ++j) most = fmaxf(most, part_of(x + i * dim, mean + j * dim, narrow + j * dim, weight[j], dim));
    bool any = most > -INFINITY;
    for (size_t j = 0; any && j < k; ++j)
        sum += expf(part_of(x + i * dim, mean + j * dim, narrow + j * dim, weight[j], dim) - most);
    for (size_t j = 0; j < k; ++j)
        share[i * k + j] =
            any ? expf(part_of(x + i * dim, mean + j * dim, narrow + j * dim, weight[j], dim) - most) / sum : 0.f;
    like[i] = any ? most + logf(sum) : -INFINITY;
}
