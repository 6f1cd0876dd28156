// Rotary encoders: positions from sampled A and B signals (bits 0 and 1) with an index pulse (bit 2).
// A sample in which both signals have changed is an error; the shaft is taken to have gone on two steps as before.
// The rise of the index pulse sets the position to zero.
#include <cuda_runtime.h>
#include <cstdint>

__device__ __forceinline__ int phase(int ab) { return ab ^ (ab >> 1); }

__global__ void decode(const uint8_t* samples, int* position, int* errors, int channels, int n) {
    int c = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (c >= channels) return;
    const uint8_t* row = samples + (size_t)c * n;
    int* out = position + (size_t)c * n;
    const unsigned full = 0xffffffffu;
    int last = row[0] & 3;
    int direction = 0, p = 0;
    uint8_t bad = 0;
    for (int at = 0; at < n; at += 32) {
        int i = at + lane;
        int s = i < n ? row[i] : 0;
        int prior = __shfl_up_sync(full, s, 1);
        if (lane == 0) prior = last;
        int d = i < n ? (phase(s & 3) - phase(prior & 3)) & 3 : 0;
        last = __shfl_sync(full, s, 31);
        unsigned forward = __ballot_sync(full, d == 1);
        unsigned valid = forward | __ballot_sync(full, d == 3);
        unsigned wrong = __ballot_sync(full, d == 2);
        unsigned resets = __ballot_sync(full, i < n && (s & 4) && !(prior & 4));
        unsigned earlier = valid & ((1u << lane) - 1);
        int way = direction;
        if (earlier) way = (forward >> (31 - __clz((int)earlier))) & 1 ? 1 : -1;
        int sum = d == 0 ? 0 : d == 1 ? 1 : d == 3 ? -1 : 2 * way;
        for (int off = 1; off < 32; off *= 2) {
            int other = __shfl_up_sync(full, sum, off);
            if (lane >= off) sum += other;
        }
        unsigned upto = resets & (full >> (31 - lane));
        int start = __shfl_sync(full, sum, upto ? 31 - __clz((int)upto) : 0);
        int here = upto ? sum - start : p + sum;
        if (i < n) out[i] = here;
        p = __shfl_sync(full, here, 31);
        if (valid) direction = (forward >> (31 - __clz((int)valid))) & 1 ? 1 : -1;
        bad += d == 2;
    }
    int total = bad;
    for (int off = 16; off; off /= 2) total += __shfl_xor_sync(full, total, off);
    if (lane == 0) errors[c] = total;
}

void quadrature(const uint8_t* samples, int* position, int* errors, int channels, int n) {
    decode<<<(channels + 3) / 4, 128>>>(samples, position, errors, channels, n);
}
