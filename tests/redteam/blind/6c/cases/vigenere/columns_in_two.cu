// How long is the key? Enciphers a text with a repeated key and finds the period whose columns coincide most.
// Usage: vigenere LETTERS PERIODS SEED
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ __forceinline__ unsigned mix(unsigned v) {
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    v ^= v >> 16;
    return v;
}

// Of a thousand letters of English, how many are a, b, c, ...
__constant__ int SHARE[26] = {82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20, -1};

__global__ void encipher(uint8_t* text, int n, unsigned seed, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int left = mix(seed * 2654435761u + i) % 1000;
    int letter = 0;
    while (letter < 25 && left >= SHARE[letter]) left -= SHARE[letter++];
    int shift = mix(seed + 77777u * (i % length + 1)) % 26;
    text[i] = (uint8_t)((letter + shift) % 26);
}

// Of period blockIdx.x + 1: ordered pairs of equal letters within a column, and all ordered pairs.
__global__ void coincide(const uint8_t* text, int n, long long* same, long long* pairs) {
    __shared__ int counts[128][26];
    __shared__ unsigned long long found[2];
    int period = blockIdx.x + 1;
    if (threadIdx.x < 2) found[threadIdx.x] = 0;
    int passes = period > 128 ? 2 : 1;
    for (int pass = 0; pass < passes; ++pass) {
        for (int k = threadIdx.x; k < 128 * 26; k += blockDim.x) counts[k / 26][k % 26] = 0;
        __syncthreads();
        for (long long i = threadIdx.x; i < n; i += blockDim.x) {
            int column = (int)(i % period) - pass * 128;
            if (column >= 0 && column < 128) atomicAdd(&counts[column][text[i]], 1);
        }
        __syncthreads();
        if (threadIdx.x < 128) {
            unsigned long long equal = 0, m = 0;
            for (int k = 0; k < 26; ++k) {
                unsigned long long c = counts[threadIdx.x][k];
                equal += c * (c - 1);
                m += c;
            }
            atomicAdd(&found[0], equal);
            atomicAdd(&found[1], m * (m - 1));
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        same[blockIdx.x] = (long long)found[0];
        pairs[blockIdx.x] = (long long)found[1];
    }
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    int n = atoi(argv[1]), periods = atoi(argv[2]);
    unsigned seed = (unsigned)atoi(argv[3]);
    if (n < 1 || periods < 1) return 2;
    int length = 5 + seed % 8;
    uint8_t* text;
    long long *same, *pairs;
    cudaMalloc(&text, n);
    cudaMalloc(&same, periods * sizeof(long long));
    cudaMalloc(&pairs, periods * sizeof(long long));
    encipher<<<(n + 255) / 256, 256>>>(text, n, seed, length);
    coincide<<<periods, 256>>>(text, n, same, pairs);
    std::vector<long long> s(periods), a(periods);
    cudaMemcpy(s.data(), same, periods * sizeof(long long), cudaMemcpyDeviceToHost);
    cudaMemcpy(a.data(), pairs, periods * sizeof(long long), cudaMemcpyDeviceToHost);
    int best = 0;
    double most = -1.0;
    for (int p = 0; p < periods; ++p) {
        double share = a[p] ? (double)s[p] / (double)a[p] : 0.0;
        printf("%d %lld %lld\n", p + 1, s[p], a[p]);
        if (share > most) {
            most = share;
            best = p + 1;
        }
    }
    printf("period %d\n", best);
    cudaFree(text);
    cudaFree(same);
    cudaFree(pairs);
    return 0;
}
