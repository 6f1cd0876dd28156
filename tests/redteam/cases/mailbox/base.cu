// Messages are put into boxes: how many there are in each, and the latest of them (of those of one time the first).
// latest: time, then all ones less the number of the message.
__device__ unsigned long long entry(int time, int i) {
    return (unsigned long long)(unsigned)time << 32 | (0xffffffffu - (unsigned)i);
}
__global__ void mailbox(const int* box, const int* time, unsigned long long* latest, unsigned* count, int n,
                        int boxes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMax(&latest[box[i]], entry(time[i], i));
    atomicAdd(&count[box[i]], 1u);
}
