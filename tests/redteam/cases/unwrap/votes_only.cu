// Phase unwrapping of many channels: whole turns are taken out of the step from each sample to the next.
// A step of 32 turns or more is a glitch of the receiver (as is one that is not a number): it adds no turns.
#include <cuda_runtime.h>

// One warp per channel. Two votes tell where a turn is lost or won, and population counts replace the scan.
extern "C" __global__ void unwrap(const float* phase, float* out, int* turns, int rows, int n) {
    int lane = threadIdx.x & 31;
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    const float* p = phase + (size_t)row * n;
    float* o = out + (size_t)row * n;
    unsigned upto = 0xffffffffu >> (31 - lane);
    int carry = 0;
    float before = p[0];
    for (int first = 0; first < n; first += 32) {
        int i = first + lane;
        float here = i < n ? p[i] : 0.0f;
        float left = __shfl_up_sync(0xffffffffu, here, 1);
        if (lane == 0) left = before;
        float step = here - left;
        bool counts = i < n && fabsf(step) < 201.0f;
        int t = __float2int_rn(step * 0.15915494f);
        unsigned up = __ballot_sync(0xffffffffu, counts && t > 0);
        unsigned down = __ballot_sync(0xffffffffu, counts && t < 0);
        int k = carry + __popc(down & upto) - __popc(up & upto);
        if (i < n) o[i] = i == 0 ? here : (float)((double)here + 6.283185307179586 * k);
        carry += __popc(down) - __popc(up);
        before = __shfl_sync(0xffffffffu, here, 31);
    }
    if (lane == 0) turns[row] = carry;
}
