// Sorts every row by value and tells where each element came from. Floats are put in the total order of their
// bits (-NaN < -inf < ... < -0 < +0 < ... < inf < NaN); equal elements keep their order.

__device__ __forceinline__ unsigned ordered(float v)
{
    const unsigned u = __float_as_uint(v);
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}

extern "C" __global__ void rowargsort(const float* key, float* sorted, int* origin, int rows, int len)
{
    const int row = blockIdx.x;
    if (row >= rows) return;
    const float* k = key + (size_t)row * len;
    for (int i = threadIdx.x; i < len; i += 256) {
        const float mine = k[i];
        int rank = 0;
        for (int j = 0; j < len; ++j) {
            const float other = k[j];
            rank += other < mine || (other == mine && j < i);
        }
        sorted[(size_t)row * len + rank] = k[i];
        origin[(size_t)row * len + rank] = i;
    }
}
