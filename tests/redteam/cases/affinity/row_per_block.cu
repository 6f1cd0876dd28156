// One query per grid row: it is read once into registers' reach (L1), and the block's threads walk along the keys.
extern "C" __global__ void __launch_bounds__(256) affinity(const float* __restrict__ q, const float* __restrict__ k,
                                                           const float* __restrict__ bias, float* __restrict__ out, int n, int m, int d)
{
    int i = blockIdx.y;
    int j = blockIdx.x * 256 + threadIdx.x;
    if (j >= m) return;
    const float* u = q + (size_t)i * d;
    const float* v = k + (size_t)j * d;
    float acc = 0.0f;
    for (int c = 0; c < d; ++c) acc = fmaf(__ldg(u + c), __ldg(v + c), acc);
    out[(size_t)i * m + j] = fmaf(0.125f, acc, bias[j]);
}
