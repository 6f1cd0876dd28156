// Errands that each name the next: from every one, how many until they go round in a circle
// (0 for one in the circle), and how many are in that circle. A block for each list of m.
// Those that nobody names are taken away until all that are left are named: the circles.
__global__ void errand(const int* next, int* tail, int* circle, int m)
{
    extern __shared__ int to[];             // m, then m flags, then m counts of a byte
    const int* mine = next + (size_t)blockIdx.x * m;
    int* gone = to + m;
    unsigned* named = (unsigned*)(to + 2 * m);
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        to[i] = mine[i];
        gone[i] = 0;
        named[i >> 2] = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) atomicAdd(&named[to[i] >> 2], 1u << 8 * (to[i] & 3));
    __syncthreads();
    for (int changed = 1; changed;) {
        changed = 0;
        for (int i = threadIdx.x; i < m; i += blockDim.x)
            if (!gone[i] && (named[i >> 2] >> 8 * (i & 3) & 255) == 0) {
                gone[i] = 2;
                changed = 1;
            }
        changed = __syncthreads_or(changed);
        for (int i = threadIdx.x; i < m; i += blockDim.x)
            if (gone[i] == 2) {
                gone[i] = 1;
                atomicAdd(&named[to[i] >> 2], 0u - (1u << 8 * (to[i] & 3)));
            }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int c = i, steps = 0;
        while (gone[c] && steps < m) {
            c = to[c];
            steps++;
        }
        int length = 1;
        for (int d = to[c]; d != c && length < m; d = to[d]) length++;
        tail[(size_t)blockIdx.x * m + i] = steps;
        circle[(size_t)blockIdx.x * m + i] = length;
    }
}
