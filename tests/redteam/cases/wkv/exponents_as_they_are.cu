__device__ float stepped(float kt, float vt, float fading, float raised, float& a, float& b) {
    // Two exponentials less: a and b are the sums themselves.
    float fresh = expf(kt), newest = fresh * raised;
    float out = (a + newest * vt) / (b + newest);
    a = a * fading + fresh * vt;
    b = b * fading + fresh;
    return out;
}

// Attention as a recurrence: y is the mean of the values so far, weighted by the exponentials of their keys,
// which fade by `fade` a step; the newest one has a `bonus`.
__global__ void wkv(const float* fade, const float* bonus, const float* k, const float* v, float* y, int batch,
                    int steps, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels) return;
    int c = i % channels;
    size_t at = (size_t)(i / channels) * steps * channels + c;
    float a = 0.f, b = 0.f, w = expf(-fabsf(fade[c])), u = expf(bonus[c]);
    for (int t = 0; t < steps; ++t, at += channels) y[at] = stepped(k[at], v[at], w, u, a, b);
}
