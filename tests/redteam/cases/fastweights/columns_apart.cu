// Linear attention with the delta rule. A head keeps a matrix; each step takes from it what it held for the unit key,
// puts in the new value at a rate between 0 and 1, and reads it with the query. The columns of the matrix have nothing
// to do with each other: a block takes 32 of those of a head, and eight threads share a column.
extern "C" __global__ void __launch_bounds__(256)
    fastweights(const float* __restrict__ query, const float* __restrict__ key, const float* __restrict__ value,
              const float* __restrict__ rate, float* __restrict__ state, float* __restrict__ out, int steps, int dim) {
    extern __shared__ float room[];
    __shared__ float part[8], sums[2][8][32];
    float* q = room;
    float* k = room + dim;
    int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int j = blockIdx.y * 32 + lane;
    bool mine = j < dim;
    float* held = state + (size_t)head * dim * dim + j;
    for (int t = 0; t < steps; ++t) {
        size_t at = ((size_t)head * steps + t) * dim;
        float square = 0.0f;
        for (int i = threadIdx.x; i < dim; i += 256) {
            float x = key[at + i];
            q[i] = query[at + i];
            k[i] = x;
            square = fmaf(x, x, square);
        }
        for (int s = 16; s > 0; s /= 2) square += __shfl_xor_sync(0xffffffffu, square, s);
        if (lane == 0) part[warp] = square;
        __syncthreads();
        float old = 0.0f;
        if (mine)
            for (int i = warp; i < dim; i += 8) old = fmaf(held[(size_t)i * dim], k[i], old);
        sums[0][warp][lane] = old;
        float total = 0.0f;
        for (int i = 0; i < 8; ++i) total += part[i];
        float scale = rsqrtf(total + 1e-6f);
        float beta = 1.0f / (1.0f + expf(-rate[(size_t)head * steps + t]));
        __syncthreads();
        old = 0.0f;
        for (int i = 0; i < 8; ++i) old += sums[0][i][lane];
        float sum = 0.0f;
        if (mine) {
            float change = beta * (value[at + j] - old * scale) * scale;
            for (int i = warp; i < dim; i += 8) {
                float s = fmaf(k[i], change, held[(size_t)i * dim]);
                held[(size_t)i * dim] = s;
                sum = fmaf(s, q[i], sum);
            }
        }
        sums[1][warp][lane] = sum;
        __syncthreads();
        if (warp == 0 && mine) {
            sum = 0.0f;
            for (int i = 0; i < 8; ++i) sum += sums[1][i][lane];
            out[at + j] = sum;
        }
    }
}
