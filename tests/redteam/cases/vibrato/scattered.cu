// How often does each row change its sign, and where last? Zeros and what is no number have no sign and are passed over.
__global__ void vibrato(const float* x, int* changes, int* last, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    const float* values = x + (size_t)row * n;
    int count = 0, place = -1;
    for (int t = lane; t < n; t += 32) {
        int i = (int)((unsigned)t * (24u * 26u - 11u) % (unsigned)n);
        float v = values[i];
        int s = (v > 0.0f) - (v < 0.0f);
        if (s == 0)
            continue;
        int j = i - 1;
        float u = 0.0f;
        while (j >= 0) {
            u = values[j];
            if (u > 0.0f || u < 0.0f)
                break;
            u = 0.0f;
            --j;
        }
        if ((s > 0 && u < 0.0f) || (s < 0 && u > 0.0f)) {
            ++count;
            place = max(place, i);
        }
    }
    for (int d = 16; d > 0; d >>= 1) {
        count += __shfl_xor_sync(0xffffffffu, count, d);
        place = max(place, __shfl_xor_sync(0xffffffffu, place, d));
    }
    if (lane == 0) {
        changes[row] = count;
        last[row] = place;
    }
}
