// The largest value of each group and where it comes first, packed so that the larger pack wins.
__device__ int taken[500];

__global__ void champion(const float* value, const int* group, unsigned long long* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned bits = __float_as_uint(value[i]);
    unsigned key = bits >> 31 ? ~bits : bits | 0x80000000u;
    unsigned long long mine = (unsigned long long)key << 32 | (0xffffffffu - i);
    unsigned long long* at = best + group[i];
    int* lock = taken + group[i];
    if (*(volatile unsigned long long*)at >= mine) return;
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            unsigned long long old = *(volatile unsigned long long*)at;
            atomicExch(lock, 0);
            if (old < mine) *(volatile unsigned long long*)at = mine;
            done = true;
        }
    }
}
