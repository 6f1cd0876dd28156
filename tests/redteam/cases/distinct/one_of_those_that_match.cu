__global__ void distinct(const int* key, int* table, int n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned here = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    int mine = key[i];
    unsigned same = __match_any_sync(here, mine);
    if ((same & -same) != 1u << (threadIdx.x & 31)) return;
    unsigned at = (unsigned)mine * 2654435761u % (unsigned)size;
    for (int probe = 0; probe < 64; ++probe) {
        int old = atomicCAS(&table[at], 0, mine);
        if (old == 0 || old == mine) return;
        at = at + 1 == size ? 0 : at + 1;
    }
}
