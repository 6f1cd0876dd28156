#include <cuda_runtime.h>

// Burrows-Wheeler transform of many short texts: order lists the starts of a text's rotations as
// they sort (equal rotations by their start), last the letter that stands before each of them.
// One block a text.
extern "C" __global__ void bwt(const unsigned char* text, int* order, unsigned char* last,
                               int length) {
    const unsigned char* t = text + (size_t)blockIdx.x * length;
    int* sorted = order + (size_t)blockIdx.x * length;
    unsigned char* before = last + (size_t)blockIdx.x * length;
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        int rank = 0;
        for (int j = 0; j < length; j++) {
            int a = i;
            int b = j;
            int k = 0;
            while (k < length && t[a] == t[b]) {
                a = a + 1 == length ? 0 : a + 1;
                b = b + 1 == length ? 0 : b + 1;
                k++;
            }
            if (k == length ? j < i : t[b] < t[a]) {
                rank++;
            }
        }
        sorted[rank] = i;
        before[rank] = t[i == 0 ? length - 1 : i - 1];
    }
}
