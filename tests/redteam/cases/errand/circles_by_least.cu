// Errands that each name the next: from every one, how many until they go round in a circle
// (0 for one in the circle), and how many are in that circle. A block for each list of m.
__global__ void errand(const int* next, int* tail, int* circle, int m)
{
    extern __shared__ int to[];             // m, then five times m
    const int* mine = next + (size_t)blockIdx.x * m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) to[i] = mine[i];
    __syncthreads();
    int *far = to + m, *least = to + 2 * m, *far2 = to + 3 * m, *least2 = to + 4 * m, *count = to + 5 * m;
    int rounds = 32 - __clz(m);
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        far[i] = to[i];
        least[i] = i;
        count[i] = 0;
    }
    __syncthreads();
    // least[i]: the least of i and those that follow; far[i]: 2, 4, 8, ... further on
    for (int k = 0; k < rounds; k++) {
        for (int i = threadIdx.x; i < m; i += blockDim.x) {
            if (k < rounds - 1) least2[i] = min(least[i], least[far[i]]); else least2[i] = least[i];
            far2[i] = far[far[i]];
        }
        __syncthreads();
        int* t = far;
        far = far2;
        far2 = t;
        t = least;
        least = least2;
        least2 = t;
    }
    // far is in the circle: every name of a circle that has been reached, and how many bear it
    for (int i = threadIdx.x; i < m; i += blockDim.x) far2[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) far2[far[i]] = 1;
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        if (far2[i]) atomicAdd(&count[least[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int length = count[least[far[i]]];
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
