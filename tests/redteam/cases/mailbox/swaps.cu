// Messages are put into boxes: how many there are in each, and the latest of them (of those of one time the first).
// latest: time, then all ones less the number of the message.
__device__ unsigned long long entry(int time, int i) {
    return (unsigned long long)(unsigned)time << 32 | (0xffffffffu - (unsigned)i);
}
__global__ void mailbox(const int* box, const int* time, unsigned long long* latest, unsigned* count, int n,
                        int boxes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = box[i];
    unsigned long long v = entry(time[i], i);
    unsigned long long seen = *(volatile unsigned long long*)&latest[b];
    // whoever is overtaken looks again, as long as there is something to gain
    for (int tries = 0; seen < v && tries < 96; tries++) {
        unsigned long long was = atomicCAS(&latest[b], seen, v);
        if (was == seen) break;
        seen = was;
    }
    atomicAdd(&count[b], 1u);
}
