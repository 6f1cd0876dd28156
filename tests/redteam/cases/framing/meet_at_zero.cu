#include <cstdint>

static __device__ int encoded(const uint8_t* d, int len) {
    int at = 1, run = 0;
    for (int i = 0; i < len; ++i) {
        run = d[i] ? run + 1 : 0;
        ++at;
        if (run == 254) {
            run = 0;
            ++at;
        }
    }
    return at;
}

static __device__ void encode(const uint8_t* d, int len, uint8_t* o) {
    int code_at = 0, at = 1;
    for (int i = 0; i < len; ++i) {
        uint8_t b = d[i];
        if (b) o[at++] = b;
        if (b == 0 || at - code_at == 255) {
            o[code_at] = (uint8_t)(at - code_at);
            code_at = at++;
        }
    }
    o[code_at] = (uint8_t)(at - code_at);
}

// Two lanes for each packet: the second one begins behind the first zero of the second half, if there is one.
__global__ void framing(const uint8_t* data, const int* size, uint8_t* out, int* length, int packets, int n, int stride) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int p = t >> 1, side = t & 1;
    bool live = p < packets;
    int len = live ? size[p] : 0;
    const uint8_t* d = data + (live ? (size_t)p * n : 0);
    int z = len / 2;
    while (z < len && d[z] != 0) ++z;
    bool met = z < len;
    const uint8_t* part = side ? d + z + 1 : d;
    int count = side ? len - z - 1 : z;
    int bytes = !live || (side && !met) ? 0 : encoded(part, count);
    int other = __shfl_xor_sync(0xffffffffu, bytes, 1);
    if (!live) return;
    uint8_t* o = out + (size_t)p * stride;
    if (!side || met) encode(part, count, o + (side ? other : 0));
    int end = bytes + other;
    for (int at = end + side; at < stride; at += 2) o[at] = 0;
    if (!side) length[p] = end + 1;
}
