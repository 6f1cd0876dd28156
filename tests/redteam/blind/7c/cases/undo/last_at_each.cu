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
        int here = min(32, n - base);
        int key = i < n ? in[i] : 0;
        unsigned letters = __ballot_sync(~0u, key != 0);
        // from depth d the keys up to mine lead to max(d + add, least)
        int add = lane < here ? (key ? 1 : -1) : 0, least = max(add, 0);
        for (int o = 1; o < 32; o *= 2) {
            int a = __shfl_up_sync(~0u, add, o), l = __shfl_up_sync(~0u, least, o);
            if (lane >= o) {
                least = max(l + add, least);
                add += a;
            }
        }
        int depth = max(at + add, least);
        unsigned same = __match_any_sync(~0u, key ? depth : -1) & letters;
        if (key && lane == 31 - __clz(same)) out[depth - 1] = (uint8_t)key;
        at = __shfl_sync(~0u, depth, 31);
        __syncwarp();
    }
    for (int i = at + lane; i < n; i += 32) out[i] = 255;
    if (lane == 0) length[line] = at;
}

void undo(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    undo_kernel<<<(lines + 3) / 4, 128>>>(keys, text, length, lines, n);
}
