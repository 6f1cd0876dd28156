// Fruits are weighed one after the other; tree[i] says which tree fruit i came from (numbers outside 0..m-1: windfall, left out; a
// weight of NaN is a failed weighing, left out). For every tree: the heaviest weight, the first fruit that has it, and how many have it.
// Weights may be negative (tare) or infinite; -0 counts as 0. A tree without fruit has weight 0, fruit -1, count 0.
#include <cuda_runtime.h>
#include <climits>

// Floats of sign + are ordered as ints are, floats of sign - the other way round as unsigned are, and a + beats a - in both orders
__global__ void clear(float* heaviest, int* fruit, int* count, int m) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m) return;
    heaviest[t] = __uint_as_float(0xff800000u);   // -inf
    fruit[t] = INT_MAX;
    count[t] = 0;
}

__global__ void weigh(const int* __restrict__ tree, const float* __restrict__ weight, float* heaviest, int* fruit, int* count, int n,
                      int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int t = tree[i];
    float w = weight[i];
    if (t < 0 || t >= m || isnan(w)) return;
    if (w >= 0.0f)
        atomicMax((int*)&heaviest[t], __float_as_int(w));
    else
        atomicMin((unsigned*)&heaviest[t], __float_as_uint(w));
}

__global__ void pick(const int* __restrict__ tree, const float* __restrict__ weight, float* heaviest, int* fruit, int* count, int n,
                     int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int t = tree[i];
    float w = weight[i];
    if (t < 0 || t >= m || isnan(w)) return;
    if (w == heaviest[t]) {
        atomicMin(&fruit[t], i);
        atomicAdd(&count[t], 1);
    }
}

__global__ void finish(float* heaviest, int* fruit, int* count, int m) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m) return;
    if (count[t] == 0) {
        heaviest[t] = 0.0f;
        fruit[t] = -1;
    }
}

extern "C" void orchard(const int* tree, const float* weight, float* heaviest, int* fruit, int* count, int n, int m) {
    if (n <= 0 || m <= 0) return;
    clear<<<(m + 255) / 256, 256>>>(heaviest, fruit, count, m);
    weigh<<<(n + 255) / 256, 256>>>(tree, weight, heaviest, fruit, count, n, m);
    pick<<<(n + 255) / 256, 256>>>(tree, weight, heaviest, fruit, count, n, m);
    finish<<<(m + 255) / 256, 256>>>(heaviest, fruit, count, m);
}
