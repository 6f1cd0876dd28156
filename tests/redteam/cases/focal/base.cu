__device__ float loss(float logp) {
    float q = 1.f - expf(logp);
    return -q * q * logp;
}

// The loss of rows of classes by which those that are sure already count less; zero where the class is none of them.
__global__ void focal(const float* logits, const int* target, float* out, int rows, int classes) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int t = target[r];
    if (t < 0 || t >= classes) {
        out[r] = 0.f;
        return;
    }
    const float* own = logits + (size_t)r * classes;
    float top = own[0], sum = 0.f;
    for (int c = 1; c < classes; ++c) top = fmaxf(top, own[c]);
    for (int c = 0; c < classes; ++c) sum += expf(own[c] - top);
    out[r] = loss(own[t] - top - logf(sum));
}
