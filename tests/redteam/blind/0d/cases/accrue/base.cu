// Long addition: total = left + right for rows of `limbs` 32-bit limbs (least significant first), with the carry out.

__global__ void accrue(const unsigned* left, const unsigned* right, unsigned* total, int* over, int rows, int limbs)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* a = left + (long long)row * limbs;
    const unsigned* b = right + (long long)row * limbs;
    unsigned* s = total + (long long)row * limbs;
    unsigned carry = 0;
    for (int i = 0; i < limbs; ++i) {
        unsigned long long t = (unsigned long long)a[i] + b[i] + carry;
        s[i] = (unsigned)t;
        carry = (unsigned)(t >> 32);
    }
    over[row] = (int)carry;
}
