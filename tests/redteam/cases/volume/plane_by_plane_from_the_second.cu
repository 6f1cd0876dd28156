// A number less a part of the mean of its six neighbours; borders look back into the volume.
__device__ int mirrored(int i, int n) { return n == 1 ? 0 : i < 0 ? 1 : i >= n ? n - 2 : i; }

__global__ void volume(const float* x, float* y, int d, int h, int w, float k) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= w || r >= h) return;
    size_t plane = (size_t)h * w, here = (size_t)r * w + c;
    size_t north = (size_t)mirrored(r - 1, h) * w + c, south = (size_t)mirrored(r + 1, h) * w + c;
    size_t west = (size_t)r * w + mirrored(c - 1, w), east = (size_t)r * w + mirrored(c + 1, w);
    float before = x[plane + here], now = x[here];
    for (int z = 0; z < d; ++z) {
        const float* p = x + z * plane;
        float next = x[mirrored(z + 1, d) * plane + here];
        float around = before + next + p[north] + p[south] + p[west] + p[east];
        y[z * plane + here] = now - k * (around / 6.f);
        before = now, now = next;
    }
}
