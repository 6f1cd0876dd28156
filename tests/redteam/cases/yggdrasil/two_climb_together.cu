// Two nodes a thread: who is lower takes the next step, and where both meet the rest is climbed once.
__global__ void yggdrasil(const int* up, const int* weight, int* depth, long long* sum, int n) {
    long long pairs = ((long long)n + 1) / 2;
    for (long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x; k < pairs;
         k += (long long)gridDim.x * blockDim.x) {
        int a = k, b = k + pairs < n ? k + pairs : k, i = a, j = b;
        long long of_a = 0, of_b = 0, of_both = weight[0];
        int steps_a = 0, steps_b = 0;
        while (i != j)
            if (i > j) {
                of_a += weight[i];
                i = up[i] % i;
                ++steps_a;
            } else {
                of_b += weight[j];
                j = up[j] % j;
                ++steps_b;
            }
        int steps = 0;
        for (; i > 0; i = up[i] % i) {
            of_both += weight[i];
            ++steps;
        }
        depth[a] = steps + steps_a;
        sum[a] = of_both + of_a;
        if (b != a) {
            depth[b] = steps + steps_b;
            sum[b] = of_both + of_b;
        }
    }
}
