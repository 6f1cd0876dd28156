__device__ __forceinline__ int quotient(int n, float inverse) { return (int)(((float)n + 0.5f) * inverse); }

__global__ void unfold(const float* x, float* out, int planes, int h, int w, int k, int stride, int pad) {
    int oh = (h + 2 * pad - k) / stride + 1, ow = (w + 2 * pad - k) / stride + 1;
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= planes * k * k * oh * ow) return;
    float by_k = 1.f / k;
    int row = quotient(e, 1.f / ow), ox = e - row * ow;
    int tap = quotient(row, 1.f / oh), oy = row - tap * oh;
    int tall = quotient(tap, by_k), kx = tap - tall * k;
    int plane = quotient(tall, by_k), ky = tall - plane * k;
    int ix = ox * stride + kx - pad, iy = oy * stride + ky - pad;
    bool inside = (unsigned)ix < (unsigned)w && (unsigned)iy < (unsigned)h;
    out[e] = inside ? __ldg(x + ((size_t)plane * h + iy) * w + ix) : 0.f;
}
