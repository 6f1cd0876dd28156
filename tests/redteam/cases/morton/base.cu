// Where a point lies on a Z-shaped curve: the bits of three coordinates of 21 bits each by turns.
__global__ void morton(const unsigned* x, const unsigned* y, const unsigned* z, unsigned long long* code, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = y[i], c = z[i];
    unsigned long long at = 0;
    for (int bit = 0; bit < 21; ++bit) {
        at |= (unsigned long long)(a >> bit & 1) << (3 * bit);
        at |= (unsigned long long)(b >> bit & 1) << (3 * bit + 1);
        at |= (unsigned long long)(c >> bit & 1) << (3 * bit + 2);
    }
    code[i] = at;
}
