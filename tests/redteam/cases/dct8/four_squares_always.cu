__constant__ float wave[8][8] = {
    {0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f},
    {0.49039264f, 0.415734806f, 0.277785117f, 0.097545161f, -0.097545161f, -0.277785117f, -0.415734806f, -0.49039264f},
    {0.461939766f, 0.191341716f, -0.191341716f, -0.461939766f, -0.461939766f, -0.191341716f, 0.191341716f, 0.461939766f},
    {0.415734806f, -0.097545161f, -0.49039264f, -0.277785117f, 0.277785117f, 0.49039264f, 0.097545161f, -0.415734806f},
    {0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f, 0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f},
    {0.277785117f, -0.49039264f, 0.097545161f, 0.415734806f, -0.415734806f, -0.097545161f, 0.49039264f, -0.277785117f},
    {0.191341716f, -0.461939766f, 0.461939766f, -0.191341716f, -0.191341716f, 0.461939766f, -0.461939766f, 0.191341716f},
    {0.097545161f, -0.277785117f, 0.415734806f, -0.49039264f, 0.49039264f, -0.415734806f, 0.277785117f, -0.097545161f},
};

// The cosine transform of each 8 by 8 pixels of a picture of bh by bw such squares: along the rows, then
// along the columns, four squares a block.
__global__ void dct8(const float* in, float* out, int bh, int bw) {
    __shared__ float pixel[4][8][9], half[4][8][9];
    int u = threadIdx.x, v = threadIdx.y, s = threadIdx.z, w = 8 * bw;
    int square = blockIdx.x * 4 + s;
    size_t at = (size_t)blockIdx.y * 8 * w + (size_t)square * 8 + (size_t)v * w + u;
    pixel[s][v][u] = in[at];
    __syncthreads();
    float sum = 0.f;
#pragma unroll
    for (int x = 0; x < 8; ++x) sum += pixel[s][v][x] * wave[u][x];
    half[s][v][u] = sum;
    __syncthreads();
    sum = 0.f;
#pragma unroll
    for (int y = 0; y < 8; ++y) sum += half[s][y][u] * wave[v][y];
    out[at] = sum;
}
