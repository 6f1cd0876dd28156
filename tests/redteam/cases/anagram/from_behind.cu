#include <cstdint>

// Lines of letters 0..7 and one pattern of m letters. For each line: at how many places are the next m letters
// an anagram of the pattern, and which place is the first (-1: there is none).
constexpr int LETTERS = 8;

__global__ void anagram(const uint8_t* text, const uint8_t* pattern, int* hits, int* first, int rows, int n, int m) {
    __shared__ int want[LETTERS];
    __shared__ int found, earliest;
    const int row = blockIdx.x;
    if (row >= rows) return;
    const uint8_t* line = text + (size_t)row * n;
    if (threadIdx.x < LETTERS) want[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        found = 0;
        earliest = n;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) atomicAdd(&want[pattern[i]], 1);
    __syncthreads();

    const int places = n - m + 1;
    const int each = places > 0 ? (places + blockDim.x - 1) / blockDim.x : 0;
    const int begin = threadIdx.x * each;
    const int end = min(begin + each, places);
    if (begin < end) {
        int count = 0, at = n;
        for (int s = begin; s < end;) {
            int lack[LETTERS];
            for (int c = 0; c < LETTERS; ++c) lack[c] = want[c];
            int i = m - 1;
            while (i >= 0 && --lack[line[s + i]] >= 0) --i;
            if (i >= 0) {
                s += i + 1;
                continue;
            }
            for (;;) {
                ++count;
                at = min(at, s);
                if (s + 1 >= end || line[s] != line[s + m]) break;
                ++s;
            }
            ++s;
        }
        if (count) {
            atomicAdd(&found, count);
            atomicMin(&earliest, at);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        hits[row] = found;
        first[row] = earliest < n ? earliest : -1;
    }
}
