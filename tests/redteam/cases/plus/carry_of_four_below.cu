// Sums of long whole numbers, the lowest 32 bits first in each row, and what is carried out of the last ones.
// A thread for each limb: what is carried into it is told by the first limb below that is not handing on.
__global__ void plus(const unsigned* a, const unsigned* b, unsigned* sum, int* carried, int rows, int limbs) {
    size_t all = (size_t)rows * limbs, step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += step) {
        int c = (int)(i % limbs);
        unsigned in = 0;
#pragma unroll
        for (int k = 4; k > 0; --k) {
            if (c < k) continue;
            unsigned x = a[i - k], s = x + b[i - k];
            in = s < x || s + in < s;
        }
        unsigned x = a[i], s = x + b[i], t = s + in;
        sum[i] = t;
        if (c == limbs - 1) carried[i / limbs] = s < x || t < s;
    }
}
