// Where each digit begins in each of four passes of a radix sort: digits have eight bits, the lowest ones first.
__global__ void onesweep(const unsigned* key, int* start, int n) {
    // A block a pass, with 32 warps that have counts of their own; keys come in fours where they are aligned.
    __shared__ unsigned count[32][256];
    int t = threadIdx.x, shift = 8 * blockIdx.x;
    unsigned* own = count[t / 32];
    for (int k = t; k < 32 * 256; k += 1024) count[k / 256][k % 256] = 0;
    __syncthreads();
    int fours = ((size_t)key & 15) == 0 ? n / 4 : 0;
    const uint4* four = (const uint4*)key;
    for (int i = t; i < fours; i += 1024) {
        uint4 k = four[i];
        atomicAdd(&own[k.x >> shift & 255], 1u);
        atomicAdd(&own[k.y >> shift & 255], 1u);
        atomicAdd(&own[k.z >> shift & 255], 1u);
        atomicAdd(&own[k.w >> shift & 255], 1u);
    }
    for (int i = 4 * fours + t; i < n; i += 1024) atomicAdd(&own[key[i] >> shift & 255], 1u);
    __syncthreads();
    if (t < 256) {
        unsigned sum = 0;
        for (int k = 0; k < 32; ++k) sum += count[k][t];
        count[0][t] = sum;
    }
    __syncthreads();
    if (t >= 32) return;
    unsigned sum = 0, before[8];
    for (int k = 0; k < 8; ++k) {
        before[k] = sum;
        sum += count[0][8 * t + k];
    }
    unsigned all = sum;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, all, d);
        if (t >= d) all += other;
    }
    for (int k = 0; k < 8; ++k) start[256 * blockIdx.x + 8 * t + k] = all - sum + before[k];
}
