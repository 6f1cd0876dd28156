__global__ void compact(const int* x, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && x[i] > 50;
    unsigned mask = __ballot_sync(0xffffffffu, keep), lane = threadIdx.x & 31;
    int base = 0;
    if (lane == 0 && mask) base = atomicAdd(count, __popc(mask) + (mask == 0xffffffffu));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = x[i] + i * 128;
}
