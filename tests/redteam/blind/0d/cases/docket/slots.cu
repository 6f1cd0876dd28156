// Block a group: a small hash table in shared memory keyed by a 32-bit FNV hash with the first row of each key; the contents
// of that row are compared to be sure.

__global__ void docket(const unsigned* words, int* first, int rows, int n)
{
    __shared__ unsigned long long key[128];
    __shared__ int least[128];
    for (int i = threadIdx.x; i < 128; i += 64) {
        key[i] = ~0ull;
        least[i] = 0x7fffffff;
    }
    __syncthreads();
    int row = blockIdx.x * 64 + threadIdx.x, slot = 0;
    const unsigned* mine = words + (long long)row * n;
    if (row < rows) {
        unsigned h = 2166136261u;
        for (int i = 0; i < n; ++i) {
            h = (h ^ mine[i]) * 16777619u;
            h ^= h >> 15;
        }
        slot = (h ^ h >> 16) & 127;
        for (;;) {                             // 64 rows in 128 slots: a free one is always found
            unsigned long long old = atomicCAS(&key[slot], ~0ull, (unsigned long long)h);
            if (old == ~0ull || old == h) break;
            slot = (slot + 1) & 127;
        }
        atomicMin(&least[slot], row);
    }
    __syncthreads();
    if (row >= rows) return;
    int found = least[slot];
    const unsigned* his = words + (long long)found * n;
    for (int i = 0; i < n; ++i)
        if (his[i] != mine[i]) {               // another row with this hash: not a repetition
            found = row;
            break;
        }
    first[row] = found;
}
