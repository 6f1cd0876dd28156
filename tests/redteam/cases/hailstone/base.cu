// How many steps it takes from a number to 1: half of an even one, three times an odd one and 1.
__global__ void hailstone(const unsigned* value, int* steps, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = value[i];
    int s = 0;
    while (v > 1 && s < limit) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        ++s;
    }
    steps[i] = s;
}
