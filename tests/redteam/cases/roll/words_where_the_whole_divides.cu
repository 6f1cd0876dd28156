// The picture as one array: four elements a thread, word by word if the array has whole words only.
__device__ __forceinline__ int moved(int at, int by, int size) {
    return at >= size - by ? at - (size - by) : at + by;
}

__global__ void roll(const float* __restrict__ x, float* __restrict__ y, int h, int w, int dy, int dx) {
    long long n = (long long)h * w;
    long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    dy %= h;
    dx %= w;
    if (dy < 0) dy += h;
    if (dx < 0) dx += w;
    if (n % 4 == 0 && dx % 4 == 0) {
        float4 v = __ldg(reinterpret_cast<const float4*>(x + i));
        int r = (int)(i / w), c = (int)(i % w);
        if (c + 3 < w) {
            float* to = y + (size_t)moved(r, dy, h) * w + moved(c, dx, w);
            if ((to - y) % 4 == 0) {
                *reinterpret_cast<float4*>(to) = v;
            } else {
                to[0] = v.x;
                to[1] = v.y;
                to[2] = v.z;
                to[3] = v.w;
            }
            return;
        }
    }
    for (int k = 0; k < 4 && i + k < n; ++k) {
        int r = (int)((i + k) / w), c = (int)((i + k) % w);
        y[(size_t)moved(r, dy, h) * w + moved(c, dx, w)] = x[i + k];
    }
}
