// Sets paragraphs in lines: words are put on a line, one space between them, as long as they fit; a word wider
// than the line has a line of its own. Lines are numbered through all paragraphs.
#include <cuda_runtime.h>

__global__ void count_lines(const int* width, int* first, int* line, int paras, int words, int limit)
{
    int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (p >= paras) return;
    const int* w = width + (size_t)p * words;
    int* l = line + (size_t)p * words;
    int lines = 0;
    int carry = 0;
    for (int from = 0; from < words; from += 32) {
        int i = from + lane;
        int x = i < words ? w[i] + 1 : 0;
        int sum = x;
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += other;
        }
        int start = from == 0 ? 0 : -1;
        int base = from == 0 ? 0 : -carry;
        unsigned marks = from == 0 ? 1u : 0u;
        for (;;) {
            unsigned over = __ballot_sync(0xffffffffu, i < words && lane > start && sum - base > limit + 1);
            if (over == 0) break;
            start = __ffs(over) - 1;
            base = __shfl_sync(0xffffffffu, sum - x, start);
            marks |= 1u << start;
        }
        carry = __shfl_sync(0xffffffffu, sum, 31) - base;
        if (i < words) l[i] = lines - 1 + __popc(marks & (0xffffffffu >> (31 - lane)));
        lines += __popc(marks);
    }
    if (lane == 0) first[p] = lines;
}

__global__ void first_lines(int* first, int paras)
{
    __shared__ int part[1024];
    int carry = 0;
    for (int from = 0; from < paras; from += 1024) {
        int p = from + threadIdx.x;
        int lines = p < paras ? first[p] : 0;
        part[threadIdx.x] = lines;
        __syncthreads();
        for (int d = 1; d < 1024; d *= 2) {
            int other = (int)threadIdx.x >= d ? part[threadIdx.x - d] : 0;
            __syncthreads();
            part[threadIdx.x] += other;
            __syncthreads();
        }
        if (p < paras) first[p] = carry + part[threadIdx.x] - lines;
        carry += part[1023];
        __syncthreads();
    }
    if (threadIdx.x == 0) first[paras] = carry;
}

__global__ void number_words(const int* first, int* line, int paras, int words)
{
    size_t all = (size_t)paras * words;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += (size_t)gridDim.x * blockDim.x) {
        line[i] += first[i / words];
    }
}

void reflow(const int* width, int* line, int* first, int paras, int words, int limit)
{
    count_lines<<<(paras + 3) / 4, 128>>>(width, first, line, paras, words, limit);
    first_lines<<<1, 1024>>>(first, paras);
    number_words<<<1024, 256>>>(first, line, paras, words);
}
