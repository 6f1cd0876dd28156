__device__ float of_block(float v, bool largest, float* part) {
    for (int k = 16; k; k /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, v, k);
        v = largest ? fmaxf(v, other) : v + other;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < 8; ++w) v = largest ? fmaxf(v, part[w]) : v + part[w];
    return v;
}

// What a customer of each place spends: by how much shops draw him (a softmax), and what is spent in each.
// A block has a place.
__global__ void huff(const float* draw, const float* spent, float* out, int rows, int cols) {
    __shared__ float part[8];
    size_t r = blockIdx.x;
    if (r >= rows) return;
    const float* u = draw + r * cols;
    float most = -INFINITY, sum = 0.f, all = 0.f;
    for (long long c = threadIdx.x; c < cols; c += 256) most = fmaxf(most, u[c]);
    most = of_block(most, true, part);
    for (long long c = threadIdx.x; c < cols; c += 256) {
        float e = expf(u[c] - most);
        sum += e;
        all += e * spent[c];
    }
    sum = of_block(sum, false, part);
    all = of_block(all, false, part);
    if (threadIdx.x == 0) out[r] = all / sum;
}
