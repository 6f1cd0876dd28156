#include <cuda_runtime.h>

// Keys in ascending order with the values that belong to them; of equal keys the earlier one stays first.
__global__ void ranked(const unsigned* key, const int* value, unsigned* sorted, int* carried, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned mine = key[i];
    int before = 0;
    for (int j = 0; j < n; ++j) before += key[j] < mine || (key[j] == mine && j < i);
    sorted[before] = mine;
    carried[before] = value[i];
}

extern "C" void kvsort(const unsigned* key, const int* value, unsigned* sorted, int* carried, int n) {
    ranked<<<(n + 127) / 128, 128>>>(key, value, sorted, carried, n);
}
