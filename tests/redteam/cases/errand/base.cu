// Errands that each name the next: from every one, how many until they go round in a circle
// (0 for one in the circle), and how many are in that circle. A block for each list of m.
__global__ void errand(const int* next, int* tail, int* circle, int m)
{
    extern __shared__ int to[];
    const int* mine = next + (size_t)blockIdx.x * m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) to[i] = mine[i];
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int c = i;
        for (int k = 0; k < m; k++) c = to[c];          // in the circle now
        int length = 1;
        for (int d = to[c]; d != c; d = to[d]) length++;
        int ahead = i, behind = i, steps = 0;
        for (int k = 0; k < length; k++) ahead = to[ahead];
        while (ahead != behind) {
            ahead = to[ahead];
            behind = to[behind];
            steps++;
        }
        tail[(size_t)blockIdx.x * m + i] = steps;
        circle[(size_t)blockIdx.x * m + i] = length;
    }
}
