// Rotary encoders: positions from sampled A and B signals (bits 0 and 1) with an index pulse (bit 2).
// A sample in which both signals have changed is an error; the shaft is taken to have gone on two steps as before.
// The rise of the index pulse sets the position to zero.
#include <cuda_runtime.h>
#include <cstdint>

__device__ __forceinline__ int phase(int ab) { return ab ^ (ab >> 1); }

__global__ void decode(const uint8_t* samples, int* position, int* errors, int channels, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    const uint8_t* row = samples + (size_t)c * n;
    int* out = position + (size_t)c * n;
    int before = row[0] & 3;
    int pulse = 0, direction = 0, p = 0, bad = 0;
    for (int i = 0; i < n; ++i) {
        int s = row[i];
        int d = (phase(s & 3) - phase(before)) & 3;
        if (d == 2) {
            ++bad;
            p += 2 * direction;
        } else if (d != 0) {
            direction = d == 1 ? 1 : -1;
            p += direction;
        }
        int index = (s >> 2) & 1;
        if (index && !pulse) p = 0;
        pulse = index;
        before = s & 3;
        out[i] = p;
    }
    errors[c] = bad;
}

void quadrature(const uint8_t* samples, int* position, int* errors, int channels, int n) {
    decode<<<(channels + 63) / 64, 64>>>(samples, position, errors, channels, n);
}
