__global__ void median(const unsigned char* in, unsigned char* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int v[9];
    for (int k = 0; k < 9; ++k) {
        int cx = min(max(x + k % 3 - 1, 0), w - 1), cy = min(max(y + k / 3 - 1, 0), h - 1);
        int now = in[(size_t)cy * w + cx], at = k;
        for (; at > 0 && v[at - 1] > now; --at) v[at] = v[at - 1];
        v[at] = now;
    }
    out[(size_t)y * w + x] = v[4];
}
