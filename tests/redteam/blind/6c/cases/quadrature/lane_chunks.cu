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
    int share = (n + 31) / 32;
    int begin = min(n, lane * share), end = min(n, begin + share);
    int last = 0;
    for (int i = end - 1; i >= begin && last == 0; --i) {
        int d = (phase(row[i] & 3) - phase(row[i ? i - 1 : 0] & 3)) & 3;
        if (d & 1) last = d == 1 ? 1 : -1;
    }
    unsigned known = __ballot_sync(full, last != 0) & ((1u << lane) - 1);
    int from = __shfl_sync(full, last, known ? 31 - __clz((int)known) : 0);
    int direction = known ? from : 0;
    int p = 0, bad = 0, carry = 0;
    bool reset = false;
    for (int pass = 0; pass < 2; ++pass) {
        int way = direction;
        p = carry;
        bad = 0;
        int prior = begin ? row[begin - 1] : row[0] & 3;
        for (int i = begin; i < end; ++i) {
            int s = row[i];
            int d = (phase(s & 3) - phase(prior & 3)) & 3;
            if (d == 2) {
                ++bad;
                p += 2 * way;
            } else if (d != 0) {
                way = d == 1 ? 1 : -1;
                p += way;
            }
            if ((s & 4) && !(prior & 4)) {
                p = 0;
                reset = true;
            }
            prior = s;
            if (pass) out[i] = p;
        }
        if (pass == 0) {
            int running = 0;
            for (int k = 0; k < 32; ++k) {
                int sum = __shfl_sync(full, p, k);
                int cut = __shfl_sync(full, (int)reset, k);
                if (k == lane) carry = running;
                running = cut ? sum : running + sum;
            }
        }
    }
    for (int off = 16; off; off /= 2) bad += __shfl_xor_sync(full, bad, off);
    if (lane == 0) errors[c] = bad;
}

void quadrature(const uint8_t* samples, int* position, int* errors, int channels, int n) {
    decode<<<(channels + 3) / 4, 128>>>(samples, position, errors, channels, n);
}
