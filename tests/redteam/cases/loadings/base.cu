// What each portfolio has of each factor: exposure = weight x loading, row by row, for `portfolios` rows of
// `assets` weights and a table of `assets` rows of `factors` loadings.
constexpr int side = 16;

extern "C" __global__ void loadings(const float* weight, const float* loading, float* exposure, int portfolios, int assets,
                                    int factors)
{
    __shared__ float left[side][side];
    __shared__ float right[side][side];
    int x = threadIdx.x;
    int y = threadIdx.y;
    long long row = (long long)blockIdx.x * side + y;
    long long column = (long long)blockIdx.y * side + x;
    float sum = 0;
    for (int from = 0; from < assets; from += side) {
        left[y][x] = row < portfolios && from + x < assets ? weight[row * assets + from + x] : 0;
        right[y][x] = column < factors && from + y < assets ? loading[(long long)(from + y) * factors + column] : 0;
        __syncthreads();
        int last = min(side, assets - from);
        for (int a = 0; a < last; a++)
            sum += left[y][a] * right[a][x];
        __syncthreads();
    }
    if (row < portfolios && column < factors)
        exposure[row * factors + column] = sum;
}
