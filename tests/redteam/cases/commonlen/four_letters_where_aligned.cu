// How many letters two words of a pair have in common at their beginning; by four letters where they lie so.
__global__ void commonlen(const unsigned char* a, const unsigned char* b, int* common, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    size_t at = (size_t)row * cols;
    const unsigned char *p = a + at, *q = b + at;
    int c = 0;
    if (((size_t)p | (size_t)q) % 4 == 0)
        for (; cols - c >= 4; c += 4) {
            unsigned other = *(const unsigned*)(p + c) ^ *(const unsigned*)(q + c);
            if (!other) continue;
            common[row] = c + (__ffs(other) - 1) / 8;
            return;
        }
    while (c < cols && p[c] == q[c]) ++c;
    common[row] = c;
}
