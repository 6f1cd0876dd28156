#include <cstdint>

// Quartiles of weighted bytes, one block for each row. The q-th is the smallest key up to which at
// least q quarters of the weight lie; are these exactly q quarters, it is the mean of that key and of
// the next one that has weight. Rows without weight give -1.
__global__ void quartile(const uint8_t* key, const int* weight, float* quarter, int n) {
    __shared__ unsigned long long heap[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) heap[k] = 0;
    __syncthreads();
    const size_t row = (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&heap[key[row + i]], (unsigned long long)weight[row + i]);
    __syncthreads();
    if (threadIdx.x >= 3) return;
    const unsigned q = threadIdx.x + 1;
    unsigned long long all = 0;
    for (int k = 0; k < 256; ++k) all += heap[k];
    float result = -1.0f;
    if (all > 0) {
        unsigned long long sum = heap[0];
        int k = 0;
        while (k < 255 && 4 * sum < q * all) sum += heap[++k];
        int above = k;
        while (above < 255 && 4 * sum <= q * all) sum += heap[++above];
        result = 0.5f * (k + above);
    }
    quarter[3 * (size_t)blockIdx.x + threadIdx.x] = result;
}
