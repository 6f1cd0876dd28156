#include <cuda_runtime.h>

// A thread per limb. Its carry comes from the nearest lower limb whose sum is
// not all ones (all ones only pass a carry on).
__global__ void summand(const unsigned* a, const unsigned* b, unsigned* sum,
                        unsigned* carry, int rows, int n)
{
    int row = blockIdx.x;
    const unsigned* ar = a + (size_t)row * n;
    const unsigned* br = b + (size_t)row * n;

    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
        unsigned c = 0;
        int lowest = max(i - 8, 0);
        for (int k = i - 1; k >= lowest; --k) {
            unsigned s = ar[k] + br[k];
            if (s != 0xffffffffu) { c = s < ar[k]; break; }
        }
        if (i < n) sum[(size_t)row * n + i] = ar[i] + br[i] + c;
        else       carry[row] = c;
    }
}
