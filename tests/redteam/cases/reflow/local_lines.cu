// Sets paragraphs in lines: words are put on a line, one space between them, as long as they fit; a word wider
// than the line has a line of its own. Lines are numbered through all paragraphs.
#include <cuda_runtime.h>

__global__ void count_lines(const int* width, int* first, int* line, int paras, int words, int limit)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paras) return;
    const int* w = width + (size_t)p * words;
    int used = w[0];
    int lines = 1;
    int* l = line + (size_t)p * words;
    l[0] = 0;
    for (int i = 1; i < words; ++i) {
        if (used + 1 + w[i] <= limit) {
            used += 1 + w[i];
        } else {
            ++lines;
            used = w[i];
        }
        l[i] = lines - 1;
    }
    first[p] = lines;
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
    int blocks = (paras + 127) / 128;
    count_lines<<<blocks, 128>>>(width, first, line, paras, words, limit);
    first_lines<<<1, 1024>>>(first, paras);
    number_words<<<1024, 256>>>(first, line, paras, words);
}
