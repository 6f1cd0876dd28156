// The whole number that each field begins with: a minus, perhaps, and digits as far as they go; without one, zero.
// All of the digits that a number can have are looked at without a branch.
__global__ void leading(const unsigned char* text, int* value, int n, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* s = text + i * width;
    bool minus = s[0] == '-', on = true;
    int left = width - minus;
    unsigned v = 0;
    s += minus;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        unsigned c = k < left ? s[k] - 48u : 99u;
        on = on && c < 10u;
        v = on ? v * 10 + c : v;
    }
    value[i] = (int)(minus ? 0u - v : v);
}
