// Two limbs at a time in 64-bit arithmetic, loads of the next pair ahead of the carry chain.

__global__ void accrue(const unsigned* left, const unsigned* right, unsigned* total, int* over, int rows, int limbs)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* a = left + (long long)row * limbs;
    const unsigned* b = right + (long long)row * limbs;
    unsigned* s = total + (long long)row * limbs;
    unsigned long long carry = 0;
    int i = 0;
    for (; i + 2 <= limbs; i += 2) {
        unsigned long long x = (unsigned long long)a[i + 1] << 32 | a[i];
        unsigned long long y = (unsigned long long)b[i + 1] << 32 | b[i];
        unsigned long long t = x + y + carry;
        carry = t < x;
        s[i] = (unsigned)t;
        s[i + 1] = (unsigned)(t >> 32);
    }
    if (i < limbs) {
        unsigned long long t = (unsigned long long)a[i] + b[i] + carry;
        s[i] = (unsigned)t;
        carry = t >> 32;
    }
    over[row] = (int)carry;
}
