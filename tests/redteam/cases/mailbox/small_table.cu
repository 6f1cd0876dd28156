// Messages are put into boxes: how many there are in each, and the latest of them (of those of one time the first).
// latest: time, then all ones less the number of the message.
__device__ unsigned long long entry(int time, int i) {
    return (unsigned long long)(unsigned)time << 32 | (0xffffffffu - (unsigned)i);
}
__global__ void mailbox(const int* box, const int* time, unsigned long long* latest, unsigned* count, int n,
                        int boxes) {
    // a small table of the boxes that a block meets; who finds a place taken goes to memory
    __shared__ int owner[256];
    __shared__ unsigned long long best[256];
    __shared__ unsigned many[256];
    for (int s = threadIdx.x; s < 256; s += blockDim.x) {
        owner[s] = -1;
        best[s] = 0;
        many[s] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = box[i], s = b & 255;
        unsigned long long v = entry(time[i], i);
        int was = atomicCAS(&owner[s], -1, b);
        bool mine = was == -1 || was == b;
        if (mine) {
            atomicMax(&best[s], v);
            atomicAdd(&many[s], 1u);
        } else {
            atomicMax(&latest[b], v);
            atomicAdd(&count[b], 1u);
        }
    }
    __syncthreads();
    for (int s = threadIdx.x; s < 256; s += blockDim.x) {
        if (owner[s] < 0) continue;
        atomicMax(&latest[owner[s]], best[s]);
        atomicAdd(&count[owner[s]], many[s]);
    }
}
