#include <cstdint>

// Lines of letters 0..7 and one pattern of m letters. For each line: at how many places are the next m letters
// an anagram of the pattern, and which place is the first (-1: there is none).
constexpr int LETTERS = 8;

__global__ void anagram(const uint8_t* text, const uint8_t* pattern, int* hits, int* first, int rows, int n, int m) {
    __shared__ int found, earliest;
    const int row = blockIdx.x;
    if (row >= rows) return;
    const uint8_t* line = text + (size_t)row * n;
    if (threadIdx.x == 0) {
        found = 0;
        earliest = n;
    }
    int want[LETTERS];
    for (int c = 0; c < LETTERS; ++c) want[c] = 0;
    for (int i = 0; i < m; i += 32) {
        const int at = i + (threadIdx.x & 31);
        const int letter = at < m ? pattern[at] : LETTERS;
        for (int c = 0; c < LETTERS; ++c) want[c] += __popc(__ballot_sync(0xffffffffu, letter == c));
    }

    const int places = n - m + 1;
    const int each = places > 0 ? (places + blockDim.x - 1) / blockDim.x : 0;
    const int begin = threadIdx.x * each;
    const int end = min(begin + each, places);
    if (begin < end) {
        int lack[LETTERS];
        for (int c = 0; c < LETTERS; ++c) lack[c] = want[c];
        for (int i = 0; i < m; ++i) --lack[line[begin + i]];
        int count = 0, at = n;
        for (int s = begin; s < end; ++s) {
            bool same = true;
            for (int c = 0; c < LETTERS; ++c) same = same && lack[c] == 0;
            if (same) {
                ++count;
                at = min(at, s);
            }
            if (s + 1 < end) {
                ++lack[line[s]];
                --lack[line[s + m]];
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
