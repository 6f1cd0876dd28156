// Fibonacci coding: each number as a sum of Fibonacci numbers no two of which are neighbours.
// Bit k of a code stands for the Fibonacci number with index k + 2 (1, 2, 3, 5, 8, ...).
#include <cuda_runtime.h>
#include <cstdint>

__constant__ unsigned FIB[45] = {
    1u, 2u, 3u, 5u, 8u, 13u, 21u, 34u, 55u, 89u, 144u, 233u, 377u, 610u, 987u, 1597u, 2584u, 4181u,
    6765u, 10946u, 17711u, 28657u, 46368u, 75025u, 121393u, 196418u, 317811u, 514229u, 832040u,
    1346269u, 2178309u, 3524578u, 5702887u, 9227465u, 14930352u, 24157817u, 39088169u, 63245986u,
    102334155u, 165580141u, 267914296u, 433494437u, 701408733u, 1134903170u, 1836311903u};

__global__ void zeckendorf(const unsigned* values, uint64_t* codes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = values[i];
    uint64_t code = 0;
    int k = 44;
    for (int term = 0; term < 20; ++term) {
        while (k >= 0 && v < FIB[k]) --k;
        if (k < 0) break;
        v -= FIB[k];
        code |= uint64_t(1) << k;
        k -= 2;
    }
    codes[i] = code;
}
