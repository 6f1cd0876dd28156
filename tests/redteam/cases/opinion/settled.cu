#include <cuda_runtime.h>

// Opinions of people who listen to those near to them: at each step everybody takes the mean (rounded down)
// of all opinions that differ from their own by no more than `reach`. `moved` counts who changed at each step.

constexpr int kValues = 1024;

__global__ void tally(const int* opinion, int n, int* count, const int* last) {
    if (last && *last == 0) return;
    __shared__ int local[kValues];
    for (int v = threadIdx.x; v < kValues; v += blockDim.x) local[v] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[opinion[i]], 1);
    __syncthreads();
    for (int v = threadIdx.x; v < kValues; v += blockDim.x)
        if (local[v]) atomicAdd(&count[v], local[v]);
}

__global__ void decide(const int* count, int* next, int reach, const int* last) {
    if (last && *last == 0) return;
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= kValues) return;
    long long people = 0, sum = 0;
    for (int u = max(0, v - reach); u <= min(kValues - 1, v + reach); ++u) {
        people += count[u];
        sum += (long long)count[u] * u;
    }
    next[v] = people ? (int)(sum / people) : v;
}

__global__ void adopt(int* opinion, int n, const int* next, int* moved, const int* last) {
    if (last && *last == 0) return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int changed = 0;
    if (i < n) {
        int before = opinion[i];
        int after = next[before];
        changed = after != before;
        opinion[i] = after;
    }
    int total = __syncthreads_count(changed);
    if (threadIdx.x == 0 && total) atomicAdd(moved, total);
}

void opinion(const int* start, int* out, int* moved, int n, int steps, int reach) {
    int* count;
    int* next;
    cudaMallocAsync(&count, kValues * sizeof(int), 0);
    cudaMallocAsync(&next, kValues * sizeof(int), 0);
    cudaMemcpyAsync(out, start, (size_t)n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(moved, 0, (size_t)steps * sizeof(int), 0);
    int blocks = (n + 255) / 256;
    for (int s = 0; s < steps; ++s) {
        const int* last = s ? moved + s - 1 : nullptr;
        cudaMemsetAsync(count, 0, kValues * sizeof(int), 0);
        tally<<<min(blocks, 264), 256>>>(out, n, count, last);
        decide<<<kValues / 128, 128>>>(count, next, reach, last);
        adopt<<<blocks, 256>>>(out, n, next, moved + s, last);
    }
    cudaFreeAsync(count, 0);
    cudaFreeAsync(next, 0);
}
