// Errands that each name the next: from every one, how many until they go round in a circle
// (0 for one in the circle), and how many are in that circle. A block for each list of m.
__global__ void errand(const int* next, int* tail, int* circle, int m)
{
    extern __shared__ int to[];             // m, then twice m for the jumps
    const int* mine = next + (size_t)blockIdx.x * m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) to[i] = mine[i];
    __syncthreads();
    int* jump = to + m;
    int* other = to + 2 * m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) jump[i] = to[i];
    __syncthreads();
    // jumps of 2, 4, 8, ... errands, past the longest tail
    for (int k = 0; k < 31 - __clz(m); k++) {
        for (int i = threadIdx.x; i < m; i += blockDim.x) other[i] = jump[jump[i]];
        __syncthreads();
        int* t = jump;
        jump = other;
        other = t;
    }
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int c = jump[i];                                // in the circle now
        int length = 1;
        for (int d = to[c]; d != c && length < m; d = to[d]) length++;
        int ahead = i, behind = i, steps = 0;
        for (int k = 0; k < length; k++) ahead = to[ahead];
        while (ahead != behind && steps < m) {
            ahead = to[ahead];
            behind = to[behind];
            steps++;
        }
        tail[(size_t)blockIdx.x * m + i] = steps;
        circle[(size_t)blockIdx.x * m + i] = length;
    }
}
