__constant__ short wave[8][8] = {
    {724, 724, 724, 724, 724, 724, 724, 724},
    {1004, 851, 569, 200, -200, -569, -851, -1004},
    {946, 392, -392, -946, -946, -392, 392, 946},
    {851, -200, -1004, -569, 569, 1004, 200, -851},
    {724, -724, -724, 724, 724, -724, -724, 724},
    {569, -1004, 200, 851, -851, -200, 1004, -569},
    {392, -946, 946, -392, -392, 946, -946, 392},
    {200, -569, 851, -1004, 1004, -851, 569, -200},
};

// The cosine transform of each 8 by 8 pixels of a picture of bh by bw such squares: along the rows, then
// along the columns, four squares a block.
__global__ void dct8(const float* in, float* out, int bh, int bw) {
    __shared__ float pixel[4][8][9], half[4][8][9];
    int u = threadIdx.x, v = threadIdx.y, s = threadIdx.z, w = 8 * bw;
    int square = blockIdx.x * 4 + s;
    size_t at = (size_t)blockIdx.y * 8 * w + (size_t)square * 8 + (size_t)v * w + u;
    if (square < bw) pixel[s][v][u] = in[at];
    __syncthreads();
    float sum = 0.f;
#pragma unroll
    for (int x = 0; x < 8; ++x) sum += pixel[s][v][x] * (wave[u][x] / 2048.f);
    half[s][v][u] = sum;
    __syncthreads();
    sum = 0.f;
#pragma unroll
    for (int y = 0; y < 8; ++y) sum += half[s][y][u] * (wave[v][y] / 2048.f);
    if (square < bw) out[at] = sum;
}
