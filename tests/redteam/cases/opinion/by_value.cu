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

__global__ void follow(const int* counted, int* final, int* moved, int steps, int reach) {
    __shared__ int count[kValues], next[kValues], total;
    int v = threadIdx.x, now = v;
    count[v] = counted[v];
    if (v == 0) total = 0;
    __syncthreads();
    for (int s = 0; s < steps; ++s) {
        long long people = 0, sum = 0;
        for (int u = max(0, v - reach); u <= min(kValues - 1, v + reach); ++u) {
            people += count[u];
            sum += (long long)count[u] * u;
        }
        int mine = count[v];
        int to = people ? (int)(sum / people) : v;
        next[v] = to;
        if (to != v && mine) atomicAdd(&total, mine);
        __syncthreads();
        now = next[now];
        count[v] = 0;
        if (v == 0) moved[s] = total;
        __syncthreads();
        if (v == 0) total = 0;
        if (mine) atomicAdd(&count[to], mine);
        __syncthreads();
    }
    final[v] = now;
}

__global__ void settle(const int* start, int* out, int n, const int* final) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = final[start[i]];
}

void opinion(const int* start, int* out, int* moved, int n, int steps, int reach) {
    int* count;
    int* next;
    cudaMallocAsync(&count, kValues * sizeof(int), 0);
    cudaMallocAsync(&next, kValues * sizeof(int), 0);
    cudaMemsetAsync(count, 0, kValues * sizeof(int), 0);
    int blocks = (n + 255) / 256;
    tally<<<min(blocks, 264), 256>>>(start, n, count);
    follow<<<1, kValues>>>(count, next, moved, steps, reach);
    settle<<<blocks, 256>>>(start, out, n, next);
    cudaFreeAsync(count, 0);
    cudaFreeAsync(next, 0);
}
