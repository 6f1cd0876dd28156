#include <cuda_runtime.h>
#include <cstdint>

// HDLC framing of synchronous lines: each frame goes out least significant bit first between two flags 0x7e; behind
// five ones in a row of the payload a zero is stuffed. A row of the line has room for the worst frame, what is left of
// it idles at ones. `lengths` are bits, flags included.
__global__ void frame(const uint8_t* payload, uint8_t* line, int* lengths, int count, int bytes)
{
    __shared__ unsigned staged[4][48];
    unsigned* stage = staged[threadIdx.x >> 5];
    int lane = threadIdx.x & 31;
    int f = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (f >= count) return;
    int room = bytes + (bytes + 4) / 5 + 2;
    const uint8_t* in = payload + (size_t)f * bytes;
    uint8_t* out = line + (size_t)f * room;
    unsigned held = 0x7e;
    int have = 8, at = 0;
    for (int base = 0; base < bytes; base += 128) {
        stage[lane] = 0;
        if (lane < 16) stage[32 + lane] = 0;
        __syncwarp();
        int from = base + lane * 4;
        int mine = min(max(bytes - from, 0), 4);
        unsigned word = 0;
        for (int k = 0; k < mine; k++) word |= (unsigned)in[from + k] << (8 * k);
        int start = 0, place = 0;
        unsigned before = 0;
        for (int k = 1; k <= 4 && from - k >= 0 && mine > 0; k++) before |= (unsigned)in[from - k] << (32 - 8 * k);
        start = __clz(~before) % 5;
        int size = 8 * mine, state = start;
        for (int k = 0; k < 8 * mine; k++) {
            state = (word >> k) & 1 ? state + 1 : 0;
            if (state == 5) {
                size++;
                state = 0;
            }
        }
        int sum = size;
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += other;
        }
        place = have + sum - size;
        have += __shfl_sync(0xffffffffu, sum, 31);
        unsigned long long bits = 0;
        int length = 0, run = start;
        for (int k = 0; k < 8 * mine; k++) {
            unsigned bit = (word >> k) & 1;
            bits |= (unsigned long long)bit << length++;
            run = bit ? run + 1 : 0;
            if (run == 5) {
                length++;
                run = 0;
            }
        }
        int shift = place & 31;
        unsigned low = (unsigned)bits, high = (unsigned)(bits >> 32);
        if (mine > 0) {
            atomicOr(&stage[place >> 5], low << shift);
            atomicOr(&stage[(place >> 5) + 1], __funnelshift_l(low, high, shift));
            if (shift) atomicOr(&stage[(place >> 5) + 2], high >> (32 - shift));
        }
        if (lane == 0) atomicOr(&stage[0], held);
        __syncwarp();
        for (int k = lane; k < have / 8; k += 32) out[at + k] = (uint8_t)(stage[k >> 2] >> (8 * (k & 3)));
        held = (stage[have >> 5] >> (8 * ((have >> 3) & 3))) & 0xff;
        at += have / 8;
        have &= 7;
        __syncwarp();
    }
    if (lane == 0) {
        held |= 0x7eu << have;
        have += 8;
        while (have >= 8) {
            out[at++] = (uint8_t)held;
            held >>= 8;
            have -= 8;
        }
        lengths[f] = at * 8 + have;
        if (have > 0) out[at] = (uint8_t)(held | 0xffu << have);
    }
    at = __shfl_sync(0xffffffffu, have > 0 ? at + 1 : at, 0);
    for (int k = at + lane; k < room; k += 32) out[k] = 0xff;
}

void modem(const uint8_t* payload, uint8_t* line, int* lengths, int count, int bytes)
{
    frame<<<(count + 3) / 4, 128>>>(payload, line, lengths, count, bytes);
}
