// What 256 windows cover is held in shared memory.
__global__ void boxes(const unsigned char* __restrict__ in, int* __restrict__ out, int w, int r) {
    __shared__ unsigned char tile[256 + 2 * 1024];
    int t = threadIdx.x, c = blockIdx.x * 256 + t;
    const unsigned char* row = in + (size_t)blockIdx.y * w;
    if (r > 1024) {
        if (c >= w) return;
        int first = max(c - r, 0), last = min(c + r, w - 1), s = 0;
        for (int i = first; i <= last; ++i) s += row[i];
        out[(size_t)blockIdx.y * w + c] = s;
        return;
    }
    tile[t + r] = c < w ? row[c] : 0;
    if (t < r) {
        int left = c - r, right = c + 256;
        tile[t] = left >= 0 && left < w ? row[left] : 0;
        tile[t + 256 + r] = right < w ? row[right] : 0;
    }
    __syncthreads();
    if (c >= w) return;
    int s = 0;
    for (int i = 0; i <= 2 * r; ++i) s += tile[t + i];
    out[(size_t)blockIdx.y * w + c] = s;
}
