__global__ void unfold(const float* x, float* out, int planes, int h, int w, int k, int stride, int pad) {
    if (stride == 1) {
        int e = blockIdx.x * blockDim.x + threadIdx.x, area = h * w;
        if (e >= planes * k * k * area) return;
        int at = e % area, tap = e / area % (k * k), plane = e / area / (k * k);
        int ix = at % w + tap % k - k / 2, iy = at / w + tap / k - k / 2;
        bool inside = (unsigned)ix < (unsigned)w && (unsigned)iy < (unsigned)h;
        out[e] = inside ? __ldg(x + (size_t)plane * area + iy * w + ix) : 0.f;
        return;
    }
    int oh = (h + 2 * pad - k) / stride + 1, ow = (w + 2 * pad - k) / stride + 1;
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= planes * k * k * oh * ow) return;
    int ox = e % ow, oy = e / ow % oh, kx = e / ow / oh % k, ky = e / ow / oh / k % k, plane = e / ow / oh / k / k;
    int ix = ox * stride + kx - pad, iy = oy * stride + ky - pad;
    bool inside = ix >= 0 && ix < w && iy >= 0 && iy < h;
    out[e] = inside ? x[((size_t)plane * h + iy) * w + ix] : 0.f;
}
