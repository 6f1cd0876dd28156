// The whole number that each field begins with: a minus, perhaps, and digits as far as they go; without one, zero.
__global__ void leading(const unsigned char* text, int* value, int n, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* s = text + i * width;
    bool minus = s[0] == '-';
    unsigned v = 0;
    for (int k = minus; k < width && s[k] >= '0' && s[k] <= '9'; ++k) v = v * 10 + (s[k] - '0');
    value[i] = (int)(minus ? 0u - v : v);
}
