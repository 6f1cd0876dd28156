// Four characters, the first of them in the lowest byte.
__device__ unsigned four(const unsigned char* s) { return s[0] | s[1] << 8 | s[2] << 16 | (unsigned)s[3] << 24; }

// Each byte has a three above, and still has it when six is added.
__device__ bool digits(unsigned w) {
    return ((w & 0xf0f0f0f0u) | (w + 0x06060606u & 0xf0f0f0f0u) >> 4) == 0x33333333u;
}

// The whole number that each field begins with: a minus, perhaps, and digits as far as they go; without one, zero.
// Digits are taken four at a time while there are four.
__global__ void leading(const unsigned char* text, int* value, int n, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* s = text + i * width;
    bool minus = s[0] == '-';
    unsigned v = 0;
    int k = minus;
    for (; k + 4 <= width; k += 4) {
        unsigned w = four(s + k);
        if (!digits(w)) break;
        w -= 0x30303030u;
        w = w * 10 + (w >> 8);
        v = v * 10000 + (w & 0xffu) * 100 + (w >> 16 & 0xffu);
    }
    for (; k < width && s[k] >= '0' && s[k] <= '9'; ++k) v = v * 10 + (s[k] - '0');
    value[i] = (int)(minus ? 0u - v : v);
}
