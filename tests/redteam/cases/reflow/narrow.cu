// Sets paragraphs in lines: words are put on a line, one space between them, as long as they fit; a word wider
// than the line has a line of its own. Lines are numbered through all paragraphs.
#include <cuda_runtime.h>

__global__ void count_lines(const int* width, int* first, int paras, int words, int limit)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paras) return;
    const int* w = width + (size_t)p * words;
    unsigned char used = (unsigned char)w[0];
    unsigned short lines = 1;
    for (int i = 1; i < words; ++i) {
        if (used + 1 + w[i] <= limit) {
            used = (unsigned char)(used + 1 + w[i]);
        } else {
            ++lines;
            used = (unsigned char)w[i];
        }
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

__global__ void number_words(const int* width, const int* first, int* line, int paras, int words, int limit)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paras) return;
    const int* w = width + (size_t)p * words;
    int* l = line + (size_t)p * words;
    unsigned char used = (unsigned char)w[0];
    int before = first[p];
    unsigned short at = 0;
    l[0] = before;
    for (int i = 1; i < words; ++i) {
        if (used + 1 + w[i] <= limit) {
            used = (unsigned char)(used + 1 + w[i]);
        } else {
            ++at;
            used = (unsigned char)w[i];
        }
        l[i] = before + at;
    }
}

void reflow(const int* width, int* line, int* first, int paras, int words, int limit)
{
    int blocks = (paras + 127) / 128;
    count_lines<<<blocks, 128>>>(width, first, paras, words, limit);
    first_lines<<<1, 1024>>>(first, paras);
    number_words<<<blocks, 128>>>(width, first, line, paras, words, limit);
}
