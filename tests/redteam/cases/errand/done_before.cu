// Errands that each name the next: from every one, how many until they go round in a circle
// (0 for one in the circle), and how many are in that circle. A block for each list of m.
__global__ void errand(const int* next, int* tail, int* circle, int m)
{
    extern __shared__ int to[];             // m, then m words
    const int* mine = next + (size_t)blockIdx.x * m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) to[i] = mine[i];
    __syncthreads();
    // an errand that is done: its tail and its circle in one word, so that they come together
    volatile unsigned* done = (volatile unsigned*)(to + m);
    for (int i = threadIdx.x; i < m; i += blockDim.x) done[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int c = i, k = 0;
        unsigned known = 0;
        while (k < m) {
            unsigned w = done[c];
            if (w >> 16) {                              // still in a tail
                known = w;
                break;
            }
            c = to[c];
            k++;
        }
        if (known) {
            int steps = k + (int)(known >> 16), length = known & 0xffff;
            done[i] = (unsigned)steps << 16 | length;
            tail[(size_t)blockIdx.x * m + i] = steps;
            circle[(size_t)blockIdx.x * m + i] = length;
            continue;
        }
        int length = 1;
        for (int d = to[c]; d != c; d = to[d]) length++;
        int ahead = i, behind = i, steps = 0;
        for (int k = 0; k < length; k++) ahead = to[ahead];
        while (ahead != behind) {
            ahead = to[ahead];
            behind = to[behind];
            steps++;
        }
        done[i] = (unsigned)steps << 16 | length;
        tail[(size_t)blockIdx.x * m + i] = steps;
        circle[(size_t)blockIdx.x * m + i] = length;
    }
}
