#include <cuda_runtime.h>
#include <cstdint>

// HDLC framing of synchronous lines: each frame goes out least significant bit first between two flags 0x7e; behind
// five ones in a row of the payload a zero is stuffed. A row of the line has room for the worst frame, what is left of
// it idles at ones. `lengths` are bits, flags included.
__global__ void frame(const uint8_t* payload, uint8_t* line, int* lengths, int count, int bytes)
{
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
        for (int left = 8; left > 0;) {
            int take;
            if (v & 1) {
                take = min(min(__ffs(~v) - 1, left), 5 - ones);
                held |= ((1u << take) - 1) << have;
                ones += take;
                have += take;
                if (ones == 5) {
                    have++;
                    ones = 0;
                }
            } else {
                take = v ? min(__ffs(v) - 1, left) : left;
                have += take;
                ones = 0;
            }
            v >>= take;
            left -= take;
        }
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
