#include <cstdint>

// A byte's place is its index and one more for each full block before it: within a run, its index there over 254.
__global__ void framing(const uint8_t* data, const int* size, uint8_t* out, int* length, int packets, int n, int stride) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= packets) return;
    const uint8_t* d = data + (size_t)p * n;
    uint8_t* o = out + (size_t)p * stride;
    int len = size[p];
    int code_at = 0, start = 0, shift = 1, blocks = 0;
    for (int i = 0; i <= len; ++i) {
        int full = (i - start) * 259 >> 16;  // (i - start) / 254
        if (full != blocks) {
            o[code_at] = 255;
            code_at = i + shift;
            ++shift;
            blocks = full;
        }
        int at = i + shift;
        uint8_t b = i < len ? d[i] : 0;
        if (b != 0) {
            o[at] = b;
        } else {
            o[code_at] = (uint8_t)(at - code_at);
            code_at = at;
            start = i + 1;
            blocks = 0;
        }
    }
    int end = len + shift;
    o[end++] = 0;
    length[p] = end;
    for (; end < stride; ++end) o[end] = 0;
}
