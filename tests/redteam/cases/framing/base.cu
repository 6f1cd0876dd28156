#include <cstdint>

// Byte stuffing for a serial line (COBS), a thread for each packet: the encoded packet has no zero but the one that
// ends it. A code byte says how far the next code byte is; 255 stands for 254 bytes without a zero after them.
// What a row has left is filled with zeros.
__global__ void framing(const uint8_t* data, const int* size, uint8_t* out, int* length, int packets, int n, int stride) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * n;
    uint8_t* o = out + (size_t)p * stride;
    int len = size[p];
    int code_at = 0, at = 1, code = 1;
    for (int i = 0; i < len; ++i) {
        uint8_t b = d[i];
        if (b != 0) {
            o[at++] = b;
            ++code;
        }
        if (b == 0 || code == 255) {
            o[code_at] = (uint8_t)code;
            code_at = at++;
            code = 1;
        }
    }
    o[code_at] = (uint8_t)code;
    o[at++] = 0;
    length[p] = at;
    for (; at < stride; ++at) o[at] = 0;
}
