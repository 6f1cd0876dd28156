#include <climits>
#include <cuda_runtime.h>

// For each number the largest from there to the end. Blocks take turns from the last part on, and each
// leaves for the next what is the largest so far: its bits and one that says that it is known.
__global__ void passed_on(const int* x, int* y, unsigned long long* line, unsigned* turns, int n) {
    __shared__ int most[8], from_behind;
    __shared__ unsigned turn;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) turn = atomicAdd(turns, 1u);
    __syncthreads();
    unsigned part = gridDim.x - 1 - turn;
    size_t start = part * (size_t)1024 + t * 4;
    int v[4];
    for (int k = 0; k < 4; ++k) v[k] = start + k < n ? x[start + k] : INT_MIN;
    for (int k = 2; k >= 0; --k) v[k] = max(v[k], v[k + 1]);
    int all = v[0];
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_down_sync(0xffffffffu, all, d);
        if (lane + d < 32) all = max(all, other);
    }
    int after = __shfl_down_sync(0xffffffffu, all, 1);
    if (lane == 31) after = INT_MIN;
    if (lane == 0) most[warp] = all;
    __syncthreads();
    if (t == 0) {
        int own = INT_MIN, behind = INT_MIN;
        for (int k = 0; k < 8; ++k) own = max(own, most[k]);
        if (turn > 0) {
            unsigned long long word;
            do word = atomicAdd(&line[part + 1], 0ull);
            while (!(word >> 32));
            behind = (int)(unsigned)word;
        }
        atomicExch(&line[part], 1ull << 32 | (unsigned)max(own, behind));
        from_behind = behind;
    }
    __syncthreads();
    after = max(after, from_behind);
    for (int k = warp + 1; k < 8; ++k) after = max(after, most[k]);
    for (int k = 0; k < 4; ++k)
        if (start + k < n) y[start + k] = max(v[k], after);
}

extern "C" void suffix(const int* x, int* y, int n) {
    int blocks = (int)(((long long)n + 1023) / 1024);
    unsigned long long* line;
    cudaMallocAsync((void**)&line, (blocks + 1) * sizeof(unsigned long long), 0);
    cudaMemsetAsync(line, 0, (blocks + 1) * sizeof(unsigned long long), 0);
    passed_on<<<blocks, 256>>>(x, y, line, (unsigned*)(line + blocks), n);
    cudaFreeAsync(line, 0);
}
