#include <cstdint>

// Every byte is stored where it belongs, zeros too: a zero's place is that of the next code byte, written later.
__global__ void framing(const uint8_t* data, const int* size, uint8_t* out, int* length, int packets, int n, int stride) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * n;
    uint8_t* o = out + (size_t)p * stride;
    int len = size[p];
    int code_at = 0, at = 1;
    for (int i = 0; i < len; ++i) {
        uint8_t b = d[i];
        o[at] = b;
        int code = at - code_at;  // of a block that this byte's place ends
        bool full = b != 0 && code == 254;
        o[code_at] = (uint8_t)(code + full);
        at += full;
        code_at = b == 0 || full ? at : code_at;
        ++at;
    }
    o[code_at] = (uint8_t)(at - code_at);
    o[at++] = 0;
    length[p] = at;
    for (; at < stride; ++at) o[at] = 0;
}
