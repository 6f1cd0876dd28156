__device__ float loss(float logp) {
    float q = 1.f - expf(logp);
    return -q * q * logp;
}

// The loss of rows of classes by which those that are sure already count less; zero where the class is none of them.
// Eight lanes have a row.
__global__ void focal(const float* logits, const int* target, float* out, int rows, int classes) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 8, r = i < rows ? i : rows - 1;
    int lane = threadIdx.x % 8, t = target[r];
    bool counts = t >= 0 && t < classes;
    const float* own = logits + r * classes;
    float top = own[0], sum = 0.f;
    if (counts)
        for (size_t c = lane; c < classes; c += 8) top = fmaxf(top, own[c]);
    for (int s = 4; s; s /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, s));
    if (counts)
        for (size_t c = lane; c < classes; c += 8) sum += expf(own[c] - top);
    for (int s = 4; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0 && i < rows) out[r] = counts ? loss(own[t] - top - logf(sum)) : 0.f;
}
