__global__ void unfold(const float* x, float* out, int planes, int h, int w, int k, int stride, int pad) {
    int oh = (h + 2 * pad - k) / stride + 1, ow = (w + 2 * pad - k) / stride + 1;
    for (int row = blockIdx.x; row < planes * k * k * oh; row += gridDim.x) {
        int oy = row % oh, tap = row / oh, kx = tap % k, ky = tap / k % k, plane = tap / k / k;
        int iy = oy * stride + ky - pad;
        bool inside = iy >= 0 && iy < h;
        const float* from = x + ((size_t)plane * h + (inside ? iy : 0)) * w;
        for (int ox = threadIdx.x; ox < ow; ox += blockDim.x) {
            int ix = ox * stride + kx - pad;
            __stcs(out + (size_t)row * ow + ox, inside && ix >= 0 && ix < w ? __ldg(from + ix) : 0.f);
        }
    }
}
