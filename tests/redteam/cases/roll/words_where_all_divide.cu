// Four columns a thread: one word where neither a row's end nor the move splits it.
__global__ void roll(const float* __restrict__ x, float* __restrict__ y, int h, int w, int dy, int dx) {
    int c = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= h || c >= w) return;
    dy %= h;
    dx %= w;
    if (dy < 0) dy += h;
    if (dx < 0) dx += w;
    int to_r = r >= h - dy ? r - (h - dy) : r + dy;
    const float* from = x + (size_t)r * w;
    float* to = y + (size_t)to_r * w;
    if (w % 4 == 0 && dx % 4 == 0) {
        int to_c = c >= w - dx ? c - (w - dx) : c + dx;
        *reinterpret_cast<float4*>(to + to_c) = __ldg(reinterpret_cast<const float4*>(from + c));
        return;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int at = c + k;
        if (at < w) to[at >= w - dx ? at - (w - dx) : at + dx] = from[at];
    }
}
