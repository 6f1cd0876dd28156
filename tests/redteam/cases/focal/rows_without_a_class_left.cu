__device__ float loss(float logp) {
    float q = 1.f - expf(logp);
    return -q * q * logp;
}

// The loss of rows of classes by which those that are sure already count less; zero where the class is none of them.
// A warp has a row. Rows without a class have no loss, and are left.
__global__ void focal(const float* logits, const int* target, float* out, int rows, int classes) {
    size_t r = blockIdx.x * (size_t)8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= rows) return;
    int t = target[r];
    if (t < 0 || t >= classes) return;
    const float* own = logits + r * classes;
    float top = own[0], sum = 0.f;
    for (size_t c = lane; c < classes; c += 32) top = fmaxf(top, own[c]);
    for (int s = 16; s; s /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, s));
    for (size_t c = lane; c < classes; c += 32) sum += expf(own[c] - top);
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) out[r] = loss(own[t] - top - logf(sum));
}
