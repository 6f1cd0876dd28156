// Linear attention with the delta rule. A head keeps a matrix; each step takes from it what it held for the unit key,
// puts in the new value at a rate between 0 and 1, and reads it with the query. A block takes a head, whose matrix is in
// shared memory for the time of all steps where it has no more than 128 rows; it comes and goes by four where it can.
#define MOST 128
extern "C" __global__ void __launch_bounds__(128)
    fastweights(const float* __restrict__ query, const float* __restrict__ key, const float* __restrict__ value,
                const float* __restrict__ rate, float* state, float* __restrict__ out, int steps, int dim) {
    extern __shared__ __align__(16) float room[];
    __shared__ float part[4];
    int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* own = state + (size_t)head * dim * dim;
    bool few = dim <= MOST;
    float* held = few ? room : own;
    float* q = few ? room + dim * dim : room;
    float* k = q + dim;
    bool fours = dim % 4 == 0 && (size_t)state % 16 == 0;
    if (few) {
        if (fours)
            for (int i = threadIdx.x; i < dim * dim / 4; i += 128) ((float4*)room)[i] = ((const float4*)own)[i];
        else
            for (int i = threadIdx.x; i < dim * dim; i += 128) room[i] = own[i];
        __syncthreads();
    }
    for (int t = 0; t < steps; ++t) {
        size_t at = ((size_t)head * steps + t) * dim;
        float square = 0.0f;
        for (int i = threadIdx.x; i < dim; i += 128) {
            float x = key[at + i];
            q[i] = query[at + i];
            k[i] = x;
            square = fmaf(x, x, square);
        }
        for (int s = 16; s > 0; s /= 2) square += __shfl_xor_sync(0xffffffffu, square, s);
        if (lane == 0) part[warp] = square;
        __syncthreads();
        float scale = rsqrtf((part[0] + part[1]) + (part[2] + part[3]) + 1e-6f);
        float beta = 1.0f / (1.0f + expf(-rate[(size_t)head * steps + t]));
        for (int j = threadIdx.x; j < dim; j += 128) {
            float old = 0.0f;
            for (int i = 0; i < dim; ++i) old = fmaf(held[(size_t)i * dim + j], k[i], old);
            float change = beta * (value[at + j] - old * scale) * scale;
            float sum = 0.0f;
            for (int i = 0; i < dim; ++i) {
                float s = fmaf(k[i], change, held[(size_t)i * dim + j]);
                held[(size_t)i * dim + j] = s;
                sum = fmaf(s, q[i], sum);
            }
            out[at + j] = sum;
        }
        __syncthreads();
    }
    if (few) {
        if (fours)
            for (int i = threadIdx.x; i < dim * dim / 4; i += 128) ((float4*)own)[i] = ((const float4*)room)[i];
        else
            for (int i = threadIdx.x; i < dim * dim; i += 128) own[i] = room[i];
    }
}
