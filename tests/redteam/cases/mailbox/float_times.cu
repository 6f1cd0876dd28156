// Messages are put into boxes: how many there are in each, and the latest of them (of those of one time the first).
// latest: time, then all ones less the number of the message.
__device__ unsigned long long entry(int time, int i) {
    return (unsigned long long)(unsigned)time << 32 | (0xffffffffu - (unsigned)i);
}
__global__ void mailbox(const int* box, const int* time, unsigned long long* latest, unsigned* count, int n,
                        int boxes) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    int b = box[i];
    float t = time[i];
    int last = i;
    unsigned k = 1;
    if (i + 1 < n) {
        int c = box[i + 1];
        float u = time[i + 1];
        if (c == b) {
            if (u > t) last = i + 1;
            k = 2;
        } else {
            atomicMax(&latest[c], entry(time[i + 1], i + 1));
            atomicAdd(&count[c], 1u);
        }
    }
    atomicMax(&latest[b], entry(time[last], last));
    atomicAdd(&count[b], k);
}
