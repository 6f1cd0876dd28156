// All halvings in a row are one shift, as far as the limit allows.
__global__ void hailstone(const unsigned* __restrict__ value, int* __restrict__ steps, int n,
                        int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = value[i];
    int s = 0;
    while (v > 1 && s < limit) {
        int zeros = __ffsll((long long)v) - 1;
        if (zeros == 0) {
            v = 3 * v + 1;
            ++s;
        } else {
            zeros = min(zeros, limit - s);
            v >>= zeros;
            s += zeros;
        }
    }
    steps[i] = s;
}
