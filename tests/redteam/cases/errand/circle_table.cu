// Errands that each name the next: from every one, how many until they go round in a circle
// (0 for one in the circle), and how many are in that circle. A block for each list of m.
__global__ void errand(const int* next, int* tail, int* circle, int m)
{
    extern __shared__ int to[];
    const int* mine = next + (size_t)blockIdx.x * m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) to[i] = mine[i];
    __shared__ int leader[32], size[32], circles;
    if (threadIdx.x == 0) circles = 0;
    __syncthreads();
    // an errand that finds itself again before it finds a lesser one names its circle
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int c = to[i], k = 1;
        while (c > i && k < m) {
            c = to[c];
            k++;
        }
        if (c == i) {
            int slot = atomicAdd(&circles, 1);
            if (slot < 32) {
                leader[slot] = i;
                size[slot] = k;
            }
        }
    }
    __syncthreads();
    int known = min(circles, 32);
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int c = i;
        for (int k = 0; k < m; k++) c = to[c];          // in the circle now
        int length = 1;
        // to the leader of the circle, and its size
        bool found = false;
        for (int k = 0; k < m && !found; k++, c = to[c])
            for (int s = 0; s < known; s++)
                if (leader[s] == c) {
                    length = size[s];
                    found = true;
                }
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
