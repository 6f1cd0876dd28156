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
    int u = root(label, a[e]), v = root(label, b[e]);
    if (u != v) atomicMin(&label[max(u, v)], min(u, v));
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
