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
    int at;
    {
        int net = 0, low = 0;
        for (int base = 0; base < n; base += 32) {
            int i = base + lane;
            int step = i < n ? (in[i] ? 1 : -1) : 0;
            for (int o = 1; o < 32; o *= 2) {
                int t = __shfl_up_sync(~0u, step, o);
                if (lane >= o) step += t;
            }
            low = min(low, net + __reduce_min_sync(~0u, step));
            net += __shfl_sync(~0u, step, 31);
        }
        at = net - low;
    }
    if (lane == 0) length[line] = at;
    for (int i = at + lane; i < n; i += 32) out[i] = 255;
    signed char rubbed = 0;
    for (int base = (n - 1) / 32 * 32; at > 0; base -= 32) {
        int i = base + lane;
        int key = i < n ? in[i] : -1;
        // keys from mine to the last: r rubbed before become max(r + add, least)
        signed char add = key > 0 ? -1 : key == 0, least = key == 0;
        for (int o = 1; o < 32; o *= 2) {
            signed char a = __shfl_down_sync(~0u, add, o), l = __shfl_down_sync(~0u, least, o);
            if (lane + o < 32) {
                least = max(l + add, (int)least);
                add += a;
            }
        }
        int left = max(rubbed + add, (int)least);
        int before = __shfl_down_sync(~0u, left, 1);
        if (lane == 31) before = rubbed;
        bool stays = key > 0 && before == 0;
        unsigned all = __ballot_sync(~0u, stays);
        at -= __popc(all);
        if (stays) out[at + __popc(all & ((1u << lane) - 1))] = (uint8_t)key;
        rubbed = __shfl_sync(~0u, left, 0);
    }
}

void undo(const uint8_t* keys, uint8_t* text, int* length, int lines, int n) {
    undo_kernel<<<(lines + 3) / 4, 128>>>(keys, text, length, lines, n);
}
