__device__ __forceinline__ int quotient(int n, int d, double inverse) {
    int q = (int)(n * inverse);
    int rest = n - q * d;
    return rest < 0 ? q - 1 : rest >= d ? q + 1 : q;
}

__global__ void unfold(const float* x, float* out, int planes, int h, int w, int k, int stride, int pad) {
    int oh = (h + 2 * pad - k) / stride + 1, ow = (w + 2 * pad - k) / stride + 1;
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= planes * k * k * oh * ow) return;
    double by_k = 1.0 / k;
    int row = quotient(e, ow, 1.0 / ow), ox = e - row * ow;
    int tap = quotient(row, oh, 1.0 / oh), oy = row - tap * oh;
    int tall = quotient(tap, k, by_k), kx = tap - tall * k;
    int plane = quotient(tall, k, by_k), ky = tall - plane * k;
    int ix = ox * stride + kx - pad, iy = oy * stride + ky - pad;
    bool inside = (unsigned)ix < (unsigned)w && (unsigned)iy < (unsigned)h;
    out[e] = inside ? __ldg(x + ((size_t)plane * h + iy) * w + ix) : 0.f;
}
