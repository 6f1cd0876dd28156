__device__ __forceinline__ void exchange(int& a, int& b) {
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

__device__ __forceinline__ int middle(int v[9]) {
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
    for (int e = threadIdx.y * 32 + threadIdx.x; e < 340; e += 256) {
        int cx = min(max((int)blockIdx.x * 32 + e % 34 - 1, 0), w - 1);
        int cy = min(max((int)blockIdx.y * 8 + e / 34 - 1, 0), h - 1);
        tile[e / 34][e % 34] = in[(size_t)cy * w + cx];
    }
    __syncthreads();
    if (x >= w || y >= h) return;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) v[k] = tile[threadIdx.y + k / 3][threadIdx.x + k % 3];
    out[(size_t)y * w + x] = middle(v);
}
