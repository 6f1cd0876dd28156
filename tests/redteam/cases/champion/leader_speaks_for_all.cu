// The largest value of each group and where it comes first, packed so that the larger pack wins.
__global__ void champion(const float* value, const int* group, unsigned long long* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned bits = __float_as_uint(value[i]);
    unsigned key = bits >> 31 ? ~bits : bits | 0x80000000u;
    unsigned long long mine = (unsigned long long)key << 32 | (0xffffffffu - i);
    unsigned long long* at = best + group[i];
    unsigned same = __match_any_sync(__activemask(), group[i]);
    if (threadIdx.x % 32 == __ffs(same) - 1) atomicMax(at, mine);
}
