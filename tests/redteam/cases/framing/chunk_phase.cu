#include <cstdint>

// A warp for each packet; the packet is taken in chunks of 32 bytes.
__global__ void framing(const uint8_t* data, const int* size, uint8_t* out, int* length, int packets, int n, int stride) {
    int lane = threadIdx.x & 31;
    int p = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * n;
    uint8_t* o = out + (size_t)p * stride;
    int len = size[p];
    int code_at = 0, shift = 1;  // byte i goes to i + shift
    int run = 0;                 // bytes since the last code byte
    for (int base = 0; base < len; base += 32) {
        int i = base + lane, valid = min(32, len - base);
        uint8_t b = i < len ? d[i] : 1;
        unsigned zeros = __ballot_sync(0xffffffffu, b == 0);
        int first = zeros ? __ffs(zeros) - 1 : valid;
        int full = 253 - run;           // the lane whose byte fills a block up, if no zero comes before
        bool split = full <= first && full < valid;
        int to = i + shift + (split && lane > full);
        int since = split ? base + full + shift + 1 : code_at;  // the code byte before this chunk's first zero
        unsigned below = zeros & ((1u << lane) - 1);
        int before = below ? base + (31 - __clz(below)) + shift + split : since;
        if (i < len) {
            if (b != 0)
                o[to] = b;
            else
                o[before] = (uint8_t)(to - before);
        }
        if (split && lane == 0) o[code_at] = 255;
        if (zeros) {
            int last = 31 - __clz(zeros);
            code_at = base + last + shift + split;
            run = valid - 1 - last;
        } else {
            code_at = since;
            run = split ? valid - 1 - full : run + valid;
        }
        shift += split;
    }
    int end = len + shift;
    if (lane == 0) {
        o[code_at] = (uint8_t)(end - code_at);
        length[p] = end + 1;
    }
    for (int i = end + lane; i < stride; i += 32) o[i] = 0;
}
