// First fit: each item of a row goes to the first bin in which it still fits (bins of size 1, filled
// up in floats), or opens a new one. Items that are no sizes (not above 0, or above 1) get bin -1.
// One warp for each row; shared memory for n floats.
__global__ void packing(const float* size, int* bin, int* used, int n) {
    extern __shared__ float level[];
    const int lane = threadIdx.x;
    const float* row = size + (size_t)blockIdx.x * n;
    int* place = bin + (size_t)blockIdx.x * n;
    int open = 0, full = 0;
    for (int i = 0; i < n; ++i) {
        float s = row[i];
        if (!(s > 0.0f && s <= 1.0f)) {
            if (lane == 0) place[i] = -1;
            continue;
        }
        int found = -1;
        while (full < open && level[full] >= 1.0f) ++full;
        for (int base = full; base < open; base += 32) {
            int b = base + lane;
            bool fits = b < open && level[b] + s <= 1.0f;
            unsigned who = __ballot_sync(0xffffffffu, fits);
            if (who) {
                found = base + __ffs(who) - 1;
                break;
            }
        }
        bool fresh = found < 0;
        if (fresh) found = open++;
        __syncwarp();
        if (lane == 0) {
            level[found] = fresh ? s : level[found] + s;
            place[i] = found;
        }
        __syncwarp();
    }
    if (lane == 0) used[blockIdx.x] = open;
}
