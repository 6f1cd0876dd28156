#include <cuda_runtime.h>

// So many steps of what a wind leaves: each place takes a share of what lies a reach further on, round and round.
__device__ float mean(float own, float next, float share) { return own + share * (next - own); }

__global__ void blown(const float* from, float* to, int n, int reach, float share) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = mean(from[i], from[((long long)i + reach) % n], share);
}

__global__ void blown_twice(const float* from, float* to, int n, int reach, float share) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long next = ((long long)i + reach) % n, last = (next + reach) % n;
    float a = from[i], b = from[next], c = from[last];
    to[i] = mean(mean(a, b, share), mean(b, c, share), share);
}

extern "C" void zephyr(const float* x, float* y, int n, int steps, int reach, float share) {
    int pairs = steps / 2;
    if (steps == 0) cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice, 0);
    if (steps == 0) return;
    float* other = nullptr;
    if (steps > 2) cudaMallocAsync(&other, n * sizeof(float), 0);
    const float* from = x;
    for (int left = pairs + steps % 2; left > 0; --left) {
        float* to = left % 2 ? y : other;
        if (left == 1 && steps % 2)
            blown<<<(n + 255) / 256, 256>>>(from, to, n, reach, share);
        else
            blown_twice<<<(n + 255) / 256, 256>>>(from, to, n, reach, share);
        from = to;
    }
    if (other) cudaFreeAsync(other, 0);
}
