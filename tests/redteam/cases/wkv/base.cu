__device__ float stepped(float kt, float vt, float w, float u, float& a, float& b, float& top) {
    float now = u + kt, most = fmaxf(top, now);
    float old = expf(top - most), fresh = expf(now - most);
    float out = (old * a + fresh * vt) / (old * b + fresh);
    float faded = top - w;
    most = fmaxf(faded, kt);
    old = expf(faded - most), fresh = expf(kt - most);
    a = old * a + fresh * vt;
    b = old * b + fresh;
    top = most;
    return out;
}

// Attention as a recurrence: y is the mean of the values so far, weighted by the exponentials of their keys,
// which fade by `fade` a step; the newest one has a `bonus`. The largest exponent so far is kept outside.
__global__ void wkv(const float* fade, const float* bonus, const float* k, const float* v, float* y, int batch,
                    int steps, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels) return;
    int c = i % channels;
    size_t at = (size_t)(i / channels) * steps * channels + c;
    float a = 0.f, b = 0.f, top = -1e38f, w = fabsf(fade[c]), u = bonus[c];
    for (int t = 0; t < steps; ++t, at += channels) y[at] = stepped(k[at], v[at], w, u, a, b, top);
}
