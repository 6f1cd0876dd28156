// The Durbin-Watson statistic of the residuals in each row, and how often they change between negative and not
// negative. Rows without any power, or with a gap (NaN), have the statistic zero.
#define WARPS 4

__global__ void durbin(const float* __restrict__ e, float* __restrict__ statistic, int* __restrict__ flips, int rows,
                       int n)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float* mine = e + (long long)row * n;
    float d2 = 0.0f, s2 = 0.0f;
    int c = 0;
    int i = 4 * lane;
    if (n % 4 == 0)     // then every row begins at a whole float4
        for (; i < n; i += 128) {
            const float4 v = *reinterpret_cast<const float4*>(mine + i);
            const float before = i > 0 ? mine[i - 1] : v.x;
            const float a = v.x - before, b = v.y - v.x, g = v.z - v.y, h = v.w - v.z;
            d2 += (a * a + b * b) + (g * g + h * h);
            s2 += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
            const int m = (before < 0.0f) | (v.x < 0.0f) << 1 | (v.y < 0.0f) << 2 | (v.z < 0.0f) << 3 | (v.w < 0.0f) << 4;
            c += __popc((m ^ m >> 1) & 15);
        }
    else
        for (i = lane; i < n; i += 32) {
            const float here = mine[i];
            s2 += here * here;
            if (i > 0) {
                const float before = mine[i - 1];
                d2 += (here - before) * (here - before);
                c += (here < 0.0f) != (before < 0.0f);
            }
        }
    for (int step = 16; step > 0; step /= 2) {
        d2 += __shfl_xor_sync(0xffffffffu, d2, step);
        s2 += __shfl_xor_sync(0xffffffffu, s2, step);
    }
    c = __reduce_add_sync(0xffffffffu, c);
    if (lane == 0) {
        statistic[row] = s2 > 0.0f ? d2 / s2 : 0.0f;
        flips[row] = c;
    }
}
