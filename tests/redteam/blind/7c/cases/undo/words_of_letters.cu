#include <cstdint>
#include <cuda_runtime.h>

// Lines of n keys each: 1 and more are letters, 0 rubs out the letter before the cursor, if there is one.
// What is left of each line, filled up with 255, and its length.
__global__ void undo_kernel(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    const uint8_t* in = keys + (size_t)line * n;
    uint8_t* out = text + (size_t)line * n;
    int at = 0, i = 0;
    if (n % 4 == 0) {
        for (; i < n; i += 4) {
            unsigned four = *reinterpret_cast<const unsigned*>(in + i);
            unsigned rubs = __vcmpeq4(four, 0);
            if (rubs == 0) {
                if (at % 4 == 0) *reinterpret_cast<unsigned*>(out + at) = four;
                else for (int k = 0; k < 4; ++k) out[at + k] = (uint8_t)(four >> 8 * k);
                at += 4;
            } else if (rubs == ~0u) {
                at = max(at - 4, 0);
            } else {
                for (int k = 0; k < 4; ++k) {
                    uint8_t key = (uint8_t)(four >> 8 * k);
                    if (key) out[at++] = key;
                    else at -= at > 0;
                }
            }
        }
    } else {
        for (; i < n; ++i) {
            uint8_t key = in[i];
            if (key) out[at++] = key;
            else at -= at > 0;
        }
    }
    length[line] = at;
    for (; at < n && (n % 4 || at % 4); ++at) out[at] = 255;
    for (; at < n; at += 4) *reinterpret_cast<unsigned*>(out + at) = ~0u;
}

void undo(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    undo_kernel<<<(lines + 63) / 64, 64>>>(keys, text, length, lines, n);
}
