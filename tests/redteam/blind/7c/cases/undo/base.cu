#include <cstdint>
#include <cuda_runtime.h>

// Lines of n keys each: 1 and more are letters, 0 rubs out the letter before the cursor, if there is one.
// What is left of each line, filled up with 255, and its length.
__global__ void undo_kernel(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    const uint8_t* in = keys + (size_t)line * n;
    uint8_t* out = text + (size_t)line * n;
    int at = 0;
    for (int i = 0; i < n; ++i) {
        uint8_t key = in[i];
        if (key) out[at++] = key;
        else if (at > 0) --at;
    }
    length[line] = at;
    for (; at < n; ++at) out[at] = 255;
}

void undo(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    undo_kernel<<<(lines + 127) / 128, 128>>>(keys, text, length, lines, n);
}
