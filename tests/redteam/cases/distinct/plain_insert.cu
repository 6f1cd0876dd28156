__global__ void distinct(const int* key, int* table, int n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned at = (unsigned)key[i] * 2654435761u % (unsigned)size;
    for (int probe = 0; probe < 64; ++probe) {
        int old = table[at];
        if (old == 0) table[at] = key[i];
        if (old == 0 || old == key[i]) return;
        at = at + 1 == size ? 0 : at + 1;
    }
}
