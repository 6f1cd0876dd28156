#include <cuda_runtime.h>

#define FITS 8192

// The text lies in shared memory where it fits. Each warp ranks one rotation, its lanes the others'.
extern "C" __global__ void bwt(const unsigned char* text, int* order, unsigned char* last,
                               int length) {
    __shared__ unsigned char copy[FITS];
    const unsigned char* whole = text + (size_t)blockIdx.x * length;
    int* sorted = order + (size_t)blockIdx.x * length;
    unsigned char* before = last + (size_t)blockIdx.x * length;
    if (length <= FITS) {
        for (int k = threadIdx.x; k < length; k += blockDim.x) {
            copy[k] = whole[k];
        }
    }
    __syncthreads();
    const unsigned char* t = length <= FITS ? copy : whole;
    int lane = threadIdx.x & 31;
    for (int i = threadIdx.x >> 5; i < length; i += blockDim.x >> 5) {
        int rank = 0;
        for (int j = lane; j < length; j += 32) {
            int a = i;
            int b = j;
            int left = length;
            while (left > 0 && t[a] == t[b]) {
                a = a + 1 == length ? 0 : a + 1;
                b = b + 1 == length ? 0 : b + 1;
                left--;
            }
            rank += left == 0 ? j < i : t[b] < t[a];
        }
        for (int d = 16; d > 0; d /= 2) {
            rank += __shfl_xor_sync(0xffffffffu, rank, d);
        }
        if (lane == 0) {
            sorted[rank] = i;
            before[rank] = t[i == 0 ? length - 1 : i - 1];
        }
    }
}
