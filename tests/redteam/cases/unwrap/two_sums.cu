// Phase unwrapping of many channels: whole turns are taken out of the step from each sample to the next.
// A step of 32 turns or more is a glitch of the receiver (as is one that is not a number): it adds no turns.
#include <cuda_runtime.h>

__device__ __forceinline__ int turns_of(float step) {
    if (!(fabsf(step) < 201.0f)) return 0;
    return __float2int_rn(step * 0.15915494f);
}

// One block per channel, 256 samples a round; the turns of the warps meet in shared memory.
// The rounds take turns with two sets of sums, which leaves a single barrier a round.
extern "C" __global__ void unwrap(const float* phase, float* out, int* turns, int rows, int n) {
    __shared__ int sums[2][8];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int side = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* p = phase + (size_t)row * n;
        float* o = out + (size_t)row * n;
        int carry = 0;
        for (int first = 0; first < n; first += 256) {
            int i = first + threadIdx.x;
            float here = i < n ? p[i] : 0.0f;
            int k = i > 0 && i < n ? -turns_of(here - p[i - 1]) : 0;
            for (int d = 1; d < 32; d <<= 1) {
                int v = __shfl_up_sync(0xffffffffu, k, d);
                if (lane >= d) k += v;
            }
            if (lane == 31) sums[side][warp] = k;
            __syncthreads();
            int all = 0;
            for (int w = 0; w < 8; ++w) {
                int s = sums[side][w];
                if (w < warp) k += s;
                all += s;
            }
            side ^= 1;
            k += carry;
            carry += all;
            if (i < n) o[i] = i == 0 ? here : (float)((double)here + 6.283185307179586 * k);
        }
        if (threadIdx.x == 0) turns[row] = carry;
    }
}
