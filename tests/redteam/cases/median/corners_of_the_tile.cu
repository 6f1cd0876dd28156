__device__ __forceinline__ void exchange(int& a, int& b) {
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

__device__ __forceinline__ int middle(int v[9]) {
    exchange(v[0], v[1]);
    exchange(v[1], v[2]);
    exchange(v[0], v[1]);
    exchange(v[3], v[4]);
    exchange(v[4], v[5]);
    exchange(v[3], v[4]);
    exchange(v[6], v[7]);
    exchange(v[7], v[8]);
    exchange(v[6], v[7]);
    exchange(v[0], v[3]);
    exchange(v[3], v[6]);
    exchange(v[5], v[8]);
    exchange(v[2], v[5]);
    exchange(v[1], v[4]);
    exchange(v[4], v[7]);
    exchange(v[1], v[4]);
    exchange(v[6], v[4]);
    exchange(v[4], v[2]);
    exchange(v[6], v[4]);
    return v[4];
}

__global__ void median(const unsigned char* in, unsigned char* out, int w, int h) {
    __shared__ unsigned char tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int cx = min(x, w - 1), cy = min(y, h - 1), tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = in[(size_t)cy * w + cx];
    if (tx == 1) tile[ty][0] = in[(size_t)cy * w + max(min(x - 1, w - 1), 0)];
    if (tx == 32) tile[ty][33] = in[(size_t)cy * w + min(x + 1, w - 1)];
    if (ty == 1) tile[0][tx] = in[(size_t)max(min(y - 1, h - 1), 0) * w + cx];
    if (ty == 8) tile[9][tx] = in[(size_t)min(y + 1, h - 1) * w + cx];
    __syncthreads();
    if (x >= w || y >= h) return;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) v[k] = tile[threadIdx.y + k / 3][threadIdx.x + k % 3];
    out[(size_t)y * w + x] = middle(v);
}
