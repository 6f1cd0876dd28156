// How many steps from each number to one: halved when even, three times and one more when odd.
__global__ void collatz(const unsigned* start, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = start[i];
    int s = 0;
    while (v > 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        ++s;
    }
    steps[i] = s;
}
