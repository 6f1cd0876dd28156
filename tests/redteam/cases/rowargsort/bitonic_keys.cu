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
    __shared__ uint2 item[1024];
    const float* k = key + (size_t)row * len;
    if (len > 1024) {
        for (int i = threadIdx.x; i < len; i += 256) {
            const unsigned mine = ordered(k[i]);
            int rank = 0;
            for (int j = 0; j < len; ++j) {
                const unsigned other = ordered(k[j]);
                rank += other < mine || (other == mine && j < i);
            }
            sorted[(size_t)row * len + rank] = k[i];
            origin[(size_t)row * len + rank] = i;
        }
        return;
    }
    int size = 1;
    while (size < len) size <<= 1;
    for (int i = threadIdx.x; i < size; i += 256) {
        item[i] = i < len ? make_uint2(ordered(k[i]), i) : make_uint2(0xffffffffu, 0x7fffffffu);
    }
    __syncthreads();
    for (int width = 2; width <= size; width <<= 1) {
        for (int step = width >> 1; step > 0; step >>= 1) {
            for (int i = threadIdx.x; i < size; i += 256) {
                const int other = i ^ step;
                if (other > i) {
                    const bool up = (i & width) == 0;
                    const uint2 a = item[i], c = item[other];
                    if (up ? a.x > c.x : a.x < c.x) {
                        item[i] = c;
                        item[other] = a;
                    }
                }
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < len; i += 256) {
        const int from = min((int)item[i].y, len - 1);
        sorted[(size_t)row * len + i] = k[from];
        origin[(size_t)row * len + i] = from;
    }
}
