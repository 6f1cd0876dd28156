// Where each digit begins in each of four passes of a radix sort: digits have eight bits, the lowest ones first.
__device__ unsigned total[1024], done;

// Each block counts its keys for all four passes and adds that to what all have; the last one to come sums up.
__global__ void onesweep(const unsigned* key, int* start, int n) {
    __shared__ unsigned count[1024];
    __shared__ bool last;
    int t = threadIdx.x;
    // What the last launch left is cleared before anybody has counted.
    if (blockIdx.x == 0) {
        for (int v = t; v < 1024; v += 256) total[v] = 0;
        __threadfence();
    }
    for (int v = t; v < 1024; v += 256) count[v] = 0;
    __syncthreads();
    for (long long i = blockIdx.x * 256ll + t; i < n; i += gridDim.x * 256ll) {
        unsigned k = key[i];
        atomicAdd(&count[k & 255], 1u);
        atomicAdd(&count[256 + (k >> 8 & 255)], 1u);
        atomicAdd(&count[512 + (k >> 16 & 255)], 1u);
        atomicAdd(&count[768 + (k >> 24)], 1u);
    }
    __syncthreads();
    for (int v = t; v < 1024; v += 256)
        if (count[v]) atomicAdd(&total[v], count[v]);
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int v = t; v < 1024; v += 256) {
        count[v] = __ldcg(&total[v]);
    }
    __syncthreads();
    // A warp a pass, eight digits a lane.
    int warp = t / 32, lane = t % 32;
    if (warp >= 4) return;
    unsigned own[8], sum = 0;
    for (int k = 0; k < 8; ++k) {
        own[k] = sum;
        sum += count[warp * 256 + lane * 8 + k];
    }
    unsigned all = sum;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, all, d);
        if (lane >= d) all += other;
    }
    for (int k = 0; k < 8; ++k) start[warp * 256 + lane * 8 + k] = all - sum + own[k];
}
