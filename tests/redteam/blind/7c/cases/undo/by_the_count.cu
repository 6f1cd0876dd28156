#include <cstdint>
#include <cuda_runtime.h>

// Lines of n keys each: 1 and more are letters, 0 rubs out the letter before the cursor, if there is one.
// What is left of each line, filled up with 255, and its length.
__global__ void undo_kernel(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    const uint8_t* in = keys + (size_t)line * n;
    uint8_t* out = text + (size_t)line * n;
    // a line that never runs empty keeps its letters less its rubs; only others are walked through
    int letters = 0;
    for (int i = 0; i < n; ++i) letters += in[i] != 0;
    int at = 2 * letters - n;
    if (in[0] == 0 || at <= 0) {
        at = 0;
        for (int i = 0; i < n; ++i) at = in[i] ? at + 1 : max(at - 1, 0);
    }
    length[line] = at;
    for (int i = n - 1; i >= at; --i) out[i] = 255;
    int rubbed = 0;
    for (int i = n - 1; at > 0 && i >= 0; --i) {
        uint8_t key = in[i];
        if (!key) ++rubbed;
        else if (rubbed > 0) --rubbed;
        else out[--at] = key;
    }
}

void undo(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    undo_kernel<<<(lines + 127) / 128, 128>>>(keys, text, length, lines, n);
}
