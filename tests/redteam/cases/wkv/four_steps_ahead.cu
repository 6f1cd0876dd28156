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
    // Four steps are loaded while the four before are worked on.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * channels) return;
    int c = i % channels;
    size_t start = (size_t)(i / channels) * steps * channels + c;
    const float *kc = k + start, *vc = v + start;
    float* yc = y + start;
    float a = 0.f, b = 0.f, top = -1e38f, w = fabsf(fade[c]), u = bonus[c];
    float kn[4], vn[4], kt[4], vt[4];
    for (int s = 0; s < 4; ++s) {
        size_t from = (size_t)min(s, steps - 1) * channels;
        kn[s] = kc[from], vn[s] = vc[from];
    }
    int t = 0;
    for (; t + 4 <= steps; t += 4) {
        for (int s = 0; s < 4; ++s) {
            kt[s] = kn[s], vt[s] = vn[s];
            size_t from = (size_t)min(t + 4 + s, steps - 1) * channels;
            kn[s] = kc[from], vn[s] = vc[from];
        }
        for (int s = 0; s < 4; ++s) yc[(size_t)(t + s) * channels] = stepped(kt[s], vt[s], w, u, a, b, top);
    }
    for (int s = 0; s < 3 && t + s < steps; ++s)
        yc[(size_t)(t + s) * channels] = stepped(kn[s], vn[s], w, u, a, b, top);
}
