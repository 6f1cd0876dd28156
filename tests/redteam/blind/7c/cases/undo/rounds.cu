#include <cstdint>
#include <cuda_runtime.h>

// Lines of n keys each: 1 and more are letters, 0 rubs out the letter before the cursor, if there is one.
// What is left of each line, filled up with 255, and its length.
__global__ void undo_kernel(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    int line = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (line >= lines) return;
    const uint8_t* in = keys + (size_t)line * n;
    uint8_t* out = text + (size_t)line * n;
    int at = 0;
    for (int base = 0; base < n; base += 32) {
        int i = base + lane;
        int key = i < n ? in[i] : 0;
        unsigned letters = __ballot_sync(~0u, i < n && key), rubs = __ballot_sync(~0u, i < n && !key);
        // letters with a rub right behind them go, both of them; then there are new neighbours
        for (int round = 0; round < 5 && rubs; ++round) {
            unsigned left = letters | rubs;
            bool there = letters >> lane & 1;
            unsigned behind = lane < 31 ? left & (~0u << (lane + 1)) : 0;
            unsigned next = behind & (0u - behind);
            bool pair = there && (next & rubs);
            letters &= ~__ballot_sync(~0u, pair);
            rubs &= ~__reduce_or_sync(~0u, pair ? next : 0u);
        }
        // what rubs are left stand before all letters
        at = max(at - __popc(rubs), 0);
        if (letters >> lane & 1) out[at + __popc(letters & ((1u << lane) - 1))] = (uint8_t)key;
        at += __popc(letters);
        __syncwarp();
    }
    for (int i = at + lane; i < n; i += 32) out[i] = 255;
    if (lane == 0) length[line] = at;
}

void undo(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    undo_kernel<<<(lines + 3) / 4, 128>>>(keys, text, length, lines, n);
}
