#include <cstdint>

__global__ void framing(const uint8_t* data, const int* size, uint8_t* out, int* length, int packets, int n, int stride) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * n;
    uint8_t* o = out + (size_t)p * stride;
    int len = size[p], i = 0, at = 0;
    bool zero;
    do {
        int most = min(254, len - i), run = 0;
        while (run < most && d[i + run] != 0) ++run;
        o[at] = (uint8_t)(run + 1);
        for (int k = 0; k < run; ++k) o[at + 1 + k] = d[i + k];
        at += run + 1;
        i += run;
        zero = run < 254 && i < len;
        i += zero;
    } while (i < len || zero);
    o[at++] = 0;
    length[p] = at;
    for (; at < stride; ++at) o[at] = 0;
}
