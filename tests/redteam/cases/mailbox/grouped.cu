// Messages are put into boxes: how many there are in each, and the latest of them (of those of one time the first).
// latest: time, then all ones less the number of the message.
__device__ unsigned long long entry(int time, int i) {
    return (unsigned long long)(unsigned)time << 32 | (0xffffffffu - (unsigned)i);
}
__global__ void mailbox(const int* box, const int* time, unsigned long long* latest, unsigned* count, int n,
                        int boxes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    bool here = i < n;
    int b = here ? box[i] : -1;
    unsigned t = here ? (unsigned)time[i] : 0;
    unsigned group = __match_any_sync(0xffffffffu, b);
    unsigned most = __reduce_max_sync(group, t);
    unsigned ties = __ballot_sync(0xffffffffu, t == most) & group;
    // numbers ascend with the lanes: the lowest is the first of those of one time
    if (here && lane == __ffs(ties) - 1) {
        atomicMax(&latest[b], entry(t, i));
        atomicAdd(&count[b], (unsigned)__popc(group));
    }
}
