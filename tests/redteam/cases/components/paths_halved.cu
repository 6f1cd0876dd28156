#define VERTICES 3000

__device__ __forceinline__ int root(volatile int* label, int v) {
    int above = label[v];
    while (above != v) {
        const int next = label[above];
        if (next != above) label[v] = next;
        v = above;
        above = next;
    }
    return v;
}

__global__ void begin(int* label) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < VERTICES) label[v] = v;
}

__global__ void unite(const int* __restrict__ a, const int* __restrict__ b, int* label, int m) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int u = root(label, a[e]), v = root(label, b[e]);
    while (u != v) {
        const int low = min(u, v), high = max(u, v);
        const int old = atomicCAS(label + high, high, low);
        if (old == high) return;
        u = root(label, old);
        v = root(label, low);
    }
}

__global__ void flatten(int* label) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= VERTICES) return;
    int to = v;
    volatile int* seen = label;
    while (seen[to] != to) to = seen[to];
    label[v] = to;
}

extern "C" void components(const int* a, const int* b, int* label, int m) {
    begin<<<(VERTICES + 255) / 256, 256>>>(label);
    unite<<<(m + 63) / 64, 64>>>(a, b, label, m);
    flatten<<<(VERTICES + 255) / 256, 256>>>(label);
}
