// The largest value of each group and where it comes first, packed so that the larger pack wins.
__global__ void champion(const float* value, const int* group, unsigned long long* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned bits = __float_as_uint(value[i]);
    unsigned key = bits >> 31 ? ~bits : bits | 0x80000000u;
    unsigned long long mine = (unsigned long long)key << 32 | (0xffffffffu - i);
    unsigned long long* at = best + group[i];
    unsigned long long old = *at;
    while (old < mine) {
        unsigned long long seen = atomicCAS(at, old, mine);
        if (seen == old) break;
        old = seen;
    }
}
