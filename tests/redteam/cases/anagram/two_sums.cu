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
        int sum = 0, cubes = 0;
        for (int c = 0; c < LETTERS; ++c) {
            sum += want[c] * (c + 1);
            cubes += want[c] * (c + 1) * (c + 1) * (c + 1);
        }
        for (int i = 0; i < m; ++i) {
            const int c = line[begin + i] + 1;
            sum -= c;
            cubes -= c * c * c;
        }
        int count = 0, at = n;
        for (int s = begin; s < end; ++s) {
            if (sum == 0 && cubes == 0) {
                ++count;
                at = min(at, s);
            }
            if (s + 1 < end) {
                const int out = line[s] + 1, in = line[s + m] + 1;
                sum += out - in;
                cubes += out * out * out - in * in * in;
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
