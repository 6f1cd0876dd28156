__global__ void gram(const float* x, float* g, int rows, int d) {
    __shared__ float a[32][16], b[32][16];
    int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    int t = threadIdx.y * 16 + threadIdx.x;
    int each = (rows + gridDim.z - 1) / gridDim.z;
    int from = blockIdx.z * each, end = min(rows, from + each);
    float s = 0.f;
    for (int r = from; r < end; r += 32) {
        for (int e = t; e < 512; e += 256) {
            int row = r + e / 16, left = blockIdx.y * 16 + e % 16, right = blockIdx.x * 16 + e % 16;
            a[e / 16][e % 16] = row < end && left < d ? x[(size_t)row * d + left] : 0.f;
            b[e / 16][e % 16] = row < end && right < d ? x[(size_t)row * d + right] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 32; ++e) s = fmaf(a[e][threadIdx.y], b[e][threadIdx.x], s);
        __syncthreads();
    }
    if (i < d && j < d && from < end) atomicAdd(g + (size_t)i * d + j, s);
}
