__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// A sparse matrix of blocks of four by four times a vector; a row of blocks has k of them, each four rows of four.
// The vector lies in shared memory, and sixteen blocks of each of 64 rows beside it, fetched side by side.
__global__ void blocksparse(const float4* val, const int* col, const float4* x, float4* y, int rows, int k) {
    extern __shared__ float4 room[];
    float4 *vec = room, *part = room + 800;
    int t = threadIdx.x, row = t % 4, own = t / 4;
    for (int c = t; c < 800; c += 256) vec[c] = x[c];
    size_t groups = ((size_t)rows + 63) / 64;
    for (size_t g = blockIdx.x; g < groups; g += gridDim.x) {
        size_t r0 = g * 64;
        int many = rows - r0 < 64 ? rows - r0 : 64;
        float sum = 0.f;
        for (size_t b0 = 0; b0 < k; b0 += 16) {
            int wide = k - b0 < 16 ? k - b0 : 16;
            __syncthreads();
            for (int s = t; s < many * wide * 4; s += 256) {
                int r = s / (4 * wide), q = s % (4 * wide);
                part[r * 65 + q] = val[4 * ((r0 + r) * k + b0) + q];
            }
            __syncthreads();
            if (own < many)
                for (int b = 0; b < wide; ++b)
                    sum += dot(part[own * 65 + 4 * b + row], vec[col[(r0 + own) * k + b0 + b]]);
        }
        if (own < many) ((float*)(y + r0 + own))[row] = sum;
    }
}
