// What each portfolio has of each factor: exposure = weight x loading, row by row, for `portfolios` rows of
// `assets` weights and a table of `assets` rows of `factors` loadings.
// 64 x 32 of the table to a block, 4 x 4 to a thread.
constexpr int rows = 64;
constexpr int columns = 32;
constexpr int depth = 32;

extern "C" __global__ void loadings(const float* weight, const float* loading, float* exposure, int portfolios, int assets,
                                    int factors)
{
    __shared__ float left[rows][depth + 1];
    __shared__ float right[depth][columns];
    int t = threadIdx.x;
    int x = t % 8;
    int y = t / 8;
    long long top = (long long)blockIdx.x * rows;
    long long start = (long long)blockIdx.y * columns;
    float sum[4][4] = {};
    for (int from = 0; from < assets; from += depth) {
        for (int e = t; e < rows * depth; e += 128) {
            int a = from + e % depth;
            long long row = top + e / depth;
            // Weights beyond the last asset are 0, so that its loading does not matter there.
            left[e / depth][e % depth] = row < portfolios && a < assets ? weight[row * assets + a] : 0;
        }
        int last = min(depth, assets - from) * columns;
        for (int e = t; e < last; e += 128) {
            long long column = start + e % columns;
            right[e / columns][e % columns] =
                column < factors ? loading[(long long)(from + e / columns) * factors + column] : 0;
        }
        __syncthreads();
#pragma unroll 8
        for (int a = 0; a < depth; a++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] += left[y + 16 * i][a] * right[a][x + 8 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            long long row = top + y + 16 * i;
            long long column = start + x + 8 * j;
            if (row < portfolios && column < factors)
                exposure[row * factors + column] = sum[i][j];
        }
}
