#include <cuda_runtime.h>

// Opinions of people who listen to those near to them: at each step everybody takes the mean (rounded down)
// of all opinions that differ from their own by no more than `reach`. `moved` counts who changed at each step.

constexpr int kValues = 1024;

__global__ void tally(const int* opinion, int n, int* count) {
    __shared__ int local[kValues];
    for (int v = threadIdx.x; v < kValues; v += blockDim.x) local[v] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[opinion[i]], 1);
    __syncthreads();
    for (int v = threadIdx.x; v < kValues; v += blockDim.x)
        if (local[v]) atomicAdd(&count[v], local[v]);
}

__global__ void decide(const int* count, int* next, int reach) {
    __shared__ int people[kValues + 1];
    __shared__ long long sums[kValues + 1];
    int v = threadIdx.x;
    people[v + 1] = count[v];
    sums[v + 1] = (long long)count[v] * v;
    if (v == 0) people[0] = 0, sums[0] = 0;
    __syncthreads();
    for (int d = 1; d < kValues; d *= 2) {
        int more = v >= d ? people[v + 1 - d] : 0;
        long long sum = v >= d ? sums[v + 1 - d] : 0;
        __syncthreads();
        people[v + 1] += more;
        sums[v + 1] += sum;
        __syncthreads();
    }
    int low = max(0, v - reach), high = min(kValues - 1, v + reach) + 1;
    int many = people[high] - people[low];
    long long all = sums[high] - sums[low];
    next[v] = many ? (int)(all / many) : v;
}

__global__ void adopt(int* opinion, int n, const int* next, int* moved) {
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
        cudaMemsetAsync(count, 0, kValues * sizeof(int), 0);
        tally<<<min(blocks, 264), 256>>>(out, n, count);
        decide<<<1, kValues>>>(count, next, reach);
        adopt<<<blocks, 256>>>(out, n, next, moved + s);
    }
    cudaFreeAsync(count, 0);
    cudaFreeAsync(next, 0);
}
