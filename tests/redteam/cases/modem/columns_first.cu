#include <cuda_runtime.h>
#include <cstdint>

// HDLC framing of synchronous lines: each frame goes out least significant bit first between two flags 0x7e; behind
// five ones in a row of the payload a zero is stuffed. A row of the line has room for the worst frame, what is left of
// it idles at ones. `lengths` are bits, flags included.
__global__ void frame(const uint8_t* payload, uint8_t* stage, int* lengths, int count, int bytes, int pitch)
{
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= count) return;
    const uint8_t* in = payload + (size_t)f * bytes;
    uint8_t* out = stage + f;
    out[0] = 0x7e;
    unsigned held = 0;
    int have = 0, at = 1, ones = 0;
    for (int i = 0; i < bytes; i++) {
        unsigned v = in[i];
        for (int k = 0; k < 8; k++) {
            unsigned bit = (v >> k) & 1;
            held |= bit << have;
            have++;
            ones = bit ? ones + 1 : 0;
            if (ones == 5) {
                have++;
                ones = 0;
            }
        }
        while (have >= 8) {
            if (at < pitch) out[(size_t)at * count] = (uint8_t)held;
            at++;
            held >>= 8;
            have -= 8;
        }
    }
    held |= 0x7eu << have;
    if (at < pitch) out[(size_t)at * count] = (uint8_t)held;
    at++;
    held >>= 8;
    lengths[f] = at * 8 + have;
    if (have > 0 && at < pitch) out[(size_t)at * count] = (uint8_t)(held | 0xffu << have);
}

__global__ void lay(const uint8_t* stage, const int* lengths, uint8_t* line, int count, int bytes, int pitch)
{
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= count) return;
    int room = bytes + (bytes + 4) / 5 + 2;
    int used = min((lengths[f] + 7) / 8, pitch);
    for (int k = 0; k < room; k++)
        line[(size_t)f * room + k] = k < used ? stage[(size_t)k * count + f] : (uint8_t)0xff;
}

void modem(const uint8_t* payload, uint8_t* line, int* lengths, int count, int bytes)
{
    int pitch = bytes + bytes / 8 + 4;
    uint8_t* stage;
    cudaMallocAsync((void**)&stage, (size_t)pitch * count, 0);
    frame<<<(count + 127) / 128, 128>>>(payload, stage, lengths, count, bytes, pitch);
    lay<<<(count + 127) / 128, 128>>>(stage, lengths, line, count, bytes, pitch);
    cudaFreeAsync(stage, 0);
}
