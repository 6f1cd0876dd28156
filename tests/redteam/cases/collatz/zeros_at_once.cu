// How many steps from each number to one: halved when even, three times and one more when odd.
__global__ void collatz(const unsigned* start, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = start[i];
    int s = 0;
    while (v > 1) {
        if (v % 2) {
            v = 3 * v + 1;
            ++s;
        }
        int zeros = __ffsll((long long)v) - 1;
        v >>= zeros;
        s += zeros;
    }
    steps[i] = s;
}
