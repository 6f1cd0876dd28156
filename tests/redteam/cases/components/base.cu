#define VERTICES 3000

__device__ int root(volatile int* label, int v) {
    while (label[v] != v) v = label[v];
    return v;
}

__global__ void begin(int* label) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < VERTICES) label[v] = v;
}

__global__ void unite(const int* a, const int* b, int* label, int m) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int u = a[e], v = b[e];
    while (true) {
        u = root(label, u);
        v = root(label, v);
        if (u == v) return;
        int low = min(u, v), high = max(u, v);
        if (atomicCAS(&label[high], high, low) == high) return;
    }
}

__global__ void flatten(int* label) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < VERTICES) label[v] = root(label, v);
}

extern "C" void components(const int* a, const int* b, int* label, int m) {
    begin<<<(VERTICES + 127) / 128, 128>>>(label);
    unite<<<(m + 127) / 128, 128>>>(a, b, label, m);
    flatten<<<(VERTICES + 127) / 128, 128>>>(label);
}
