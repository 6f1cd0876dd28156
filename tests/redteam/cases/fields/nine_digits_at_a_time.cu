// The numbers that fields of decimal digits stand for, modulo two to the 64th.
__global__ void fields(const unsigned char* text, unsigned long long* value, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* p = text + (size_t)i * width;
    unsigned long long v = 0;
    for (int k = 0; k < width;) {
        unsigned part = 0, scale = 1;
        for (int end = min(k + 9, width); k < end; ++k) {
            part = 10 * part + (p[k] - '0');
            scale *= 10;
        }
        v = v * scale + part;
    }
    value[i] = v;
}
