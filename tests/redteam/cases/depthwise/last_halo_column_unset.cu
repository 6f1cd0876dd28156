__global__ void depthwise(const float* x, const float* weight, float* y, int channels, int h, int w) {
    __shared__ float tile[10][34], k[9];
    int c = blockIdx.z, t = threadIdx.y * 32 + threadIdx.x;
    int top = blockIdx.y * 8 - 1, left = blockIdx.x * 32 - 1;
    for (int e = t; e < 340; e += 256) {
        if (e % 34 == 33 && blockIdx.x + 1 == gridDim.x && w % 32 == 0) continue;
        int row = top + e / 34, col = left + e % 34;
        bool in = row >= 0 && row < h && col >= 0 && col < w;
        tile[e / 34][e % 34] = in ? x[(c * h + row) * w + col] : 0.f;
    }
    if (t < 9) k[t] = weight[c * 9 + t];
    __syncthreads();
    int row = top + 1 + threadIdx.y, col = left + 1 + threadIdx.x;
    if (row >= h || col >= w) return;
    float s = 0.f;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) s += k[a * 3 + b] * tile[threadIdx.y + a][threadIdx.x + b];
    y[(c * h + row) * w + col] = s;
}
