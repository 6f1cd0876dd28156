// Pictures sampled at n places given from -1 to 1, between four pixels by their distance; pixels beyond the
// border are nothing, and so is a place that is none.
__global__ void sampled(const float* img, const float2* place, float* out, int n, int planes, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // Where it lies is the same for all planes.
    float2 at = place[i];
    float x = (at.x + 1.f) * 0.5f * (w - 1), y = (at.y + 1.f) * 0.5f * (h - 1);
    size_t size = (size_t)h * w;
    if (!(x > -1.f && x < w && y > -1.f && y < h)) {
        for (int c = blockIdx.y; c < planes; c += gridDim.y) out[(size_t)c * n + i] = 0.f;
        return;
    }
    int x0 = (int)floorf(x), y0 = (int)floorf(y);
    float right = 1.f - fabsf(x - (x0 + 1)), left = 1.f - fabsf(x - x0);
    float below = 1.f - fabsf(y - (y0 + 1)), above = 1.f - fabsf(y - y0);
    bool l = x0 >= 0, r = x0 + 1 < w, a = y0 >= 0, b = y0 + 1 < h;
    int xl = max(x0, 0), xr = min(x0 + 1, w - 1);
    size_t ya = (size_t)max(y0, 0) * w, yb = (size_t)min(y0 + 1, h - 1) * w;
    // A pixel beyond the border has no weight; the first one is read instead of it.
    size_t p = l && a ? ya + xl : 0, q = r && a ? ya + xr : 0, s = l && b ? yb + xl : 0, t = r && b ? yb + xr : 0;
    float la = l && a ? left * above : 0.f, ra = r && a ? right * above : 0.f;
    float lb = l && b ? left * below : 0.f, rb = r && b ? right * below : 0.f;
    for (int c = blockIdx.y; c < planes; c += gridDim.y) {
        const float* plane = img + c * size;
        out[(size_t)c * n + i] = la * plane[p] + ra * plane[q] + lb * plane[s] + rb * plane[t];
    }
}
