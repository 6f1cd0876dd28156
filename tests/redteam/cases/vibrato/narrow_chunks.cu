// How often does each row change its sign, and where last? Zeros and what is no number have no sign and are passed over.
__global__ void vibrato(const float* x, int* changes, int* last, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    const float* values = x + (size_t)row * n;
    int length = (n + 31) / 32;
    int begin = min(n, lane * length), end = min(n, begin + length);
    int opening = 0, start = -1, sign = 0, place = -1;
    unsigned char count = 0;
    for (int i = begin; i < end; ++i) {
        float v = values[i];
        int s = (v > 0.0f) - (v < 0.0f);
        if (s == 0)
            continue;
        if (sign == 0) {
            opening = s;
            start = i;
        } else if (s != sign) {
            ++count;
            place = i;
        }
        sign = s;
    }
    int carried = 0, sum = 0, latest = -1;
    for (int from = 0; from < 32; ++from) {
        int o = __shfl_sync(0xffffffffu, opening, from);
        int b = __shfl_sync(0xffffffffu, start, from);
        int s = __shfl_sync(0xffffffffu, sign, from);
        int c = __shfl_sync(0xffffffffu, (int)count, from);
        int p = __shfl_sync(0xffffffffu, place, from);
        if (s == 0)
            continue;
        if (carried * o < 0) {
            ++sum;
            latest = b;
        }
        sum += c;
        if (p >= 0)
            latest = p;
        carried = s;
    }
    if (lane == 0) {
        changes[row] = sum;
        last[row] = latest;
    }
}
