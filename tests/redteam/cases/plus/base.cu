// Sums of long whole numbers, the lowest 32 bits first in each row, and what is carried out of the last ones.
__global__ void plus(const unsigned* a, const unsigned* b, unsigned* sum, int* carried, int rows, int limbs) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    unsigned long long rest = 0;
    for (size_t i = (size_t)r * limbs, end = i + limbs; i < end; ++i) {
        rest += (unsigned long long)a[i] + b[i];
        sum[i] = (unsigned)rest;
        rest >>= 32;
    }
    carried[r] = (int)rest;
}
