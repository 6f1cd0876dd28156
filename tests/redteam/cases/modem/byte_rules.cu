#include <cuda_runtime.h>
#include <cstdint>

// HDLC framing of synchronous lines: each frame goes out least significant bit first between two flags 0x7e; behind
// five ones in a row of the payload a zero is stuffed. A row of the line has room for the worst frame, what is left of
// it idles at ones. `lengths` are bits, flags included.
__global__ void frame(const uint8_t* payload, uint8_t* line, int* lengths, int count, int bytes)
{
    __shared__ unsigned short rule[5 * 256];
    for (int e = threadIdx.x; e < 5 * 256; e += blockDim.x) {
        int run = e >> 8, length = 0;
        unsigned bits = 0;
        for (int k = 0; k < 8; k++) {
            unsigned bit = (e >> k) & 1;
            bits |= bit << length++;
            run = bit ? run + 1 : 0;
            if (run == 5) {
                length++;
                run = 0;
            }
        }
        rule[e] = (unsigned short)(bits | (length - 8) << 10 | run << 12);
    }
    __syncthreads();
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= count) return;
    int room = bytes + (bytes + 4) / 5 + 2;
    const uint8_t* in = payload + (size_t)f * bytes;
    uint8_t* out = line + (size_t)f * room;
    out[0] = 0x7e;
    unsigned held = 0;
    int have = 0, at = 1, ones = 0;
    for (int i = 0; i < bytes; i++) {
        unsigned v = in[i];
        unsigned r = rule[ones << 8 | v];
        held |= (r & 0x3ff) << have;
        have += 8 + ((r >> 10) & 3);
        ones = r >> 12;
        while (have >= 8) {
            out[at++] = (uint8_t)held;
            held >>= 8;
            have -= 8;
        }
    }
    held |= 0x7eu << have;
    out[at++] = (uint8_t)held;
    held >>= 8;
    lengths[f] = at * 8 + have;
    if (have > 0) out[at++] = (uint8_t)(held | 0xffu << have);
    while (at < room) out[at++] = 0xff;
}

void modem(const uint8_t* payload, uint8_t* line, int* lengths, int count, int bytes)
{
    frame<<<(count + 127) / 128, 128>>>(payload, line, lengths, count, bytes);
}
