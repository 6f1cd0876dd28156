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
        unsigned long long goal[2] = {0, 0}, have[2] = {0, 0};
        for (int c = 0; c < LETTERS; ++c) goal[c >> 2] += (unsigned long long)want[c] << (16 * (c & 3));
        for (int i = 0; i < m; ++i) {
            const int c = line[begin + i];
            have[c >> 2] += 1ull << (16 * (c & 3));
        }
        unsigned long long low = goal[0] - have[0], high = goal[1] - have[1];
        int count = 0, at = n;
        for (int s = begin; s < end; ++s) {
            if ((low | high) == 0) {
                ++count;
                at = min(at, s);
            }
            if (s + 1 < end) {
                const int out = line[s], in = line[s + m];
                const unsigned long long gone = 1ull << (16 * (out & 3)), come = 1ull << (16 * (in & 3));
                low += (out < 4 ? gone : 0) - (in < 4 ? come : 0);
                high += (out < 4 ? 0 : gone) - (in < 4 ? 0 : come);
            }
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
