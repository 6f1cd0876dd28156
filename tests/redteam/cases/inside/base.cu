// Which points lie within a polygon of whole coordinates: how many of its edges a ray meets.
__global__ void inside(const int* px, const int* py, const int* vx, const int* vy,
                       unsigned char* in, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = px[i], y = py[i];
    bool odd = false;
    for (int e = 0, d = k - 1; e < k; d = e++) {
        if ((vy[e] > y) == (vy[d] > y)) continue;
        long long l = (long long)(vx[d] - vx[e]) * (y - vy[e]);
        long long r = (long long)(x - vx[e]) * (vy[d] - vy[e]);
        if (vy[d] > vy[e] ? r < l : r > l) odd = !odd;
    }
    in[i] = odd;
}
