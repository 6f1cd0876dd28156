// Sets paragraphs in lines: words are put on a line, one space between them, as long as they fit; a word wider
// than the line has a line of its own. Lines are numbered through all paragraphs.
#include <cuda_runtime.h>

__global__ void count_lines(const int* width, int* first, int paras, int words, int limit)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paras) return;
    const int* w = width + (size_t)p * words;
    int used = w[0];
    int lines = 1;
    for (int i = 1; i < words; ++i) {
        if (used + 1 + w[i] <= limit) {
            used += 1 + w[i];
        } else {
            ++lines;
            used = w[i];
        }
    }
    first[p] = lines;
}

__global__ void first_lines(int* first, int paras)
{
    __shared__ int part[1024];
    int each = (paras + 1023) / 1024;
    int from = threadIdx.x * each;
    int kept[32];
    int own = 0;
#pragma unroll
    for (int k = 0; k < 32; ++k) {
        int p = from + k;
        kept[k] = k < each && p < paras ? first[p] : 0;
        own += kept[k];
    }
    part[threadIdx.x] = own;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        int other = (int)threadIdx.x >= d ? part[threadIdx.x - d] : 0;
        __syncthreads();
        part[threadIdx.x] += other;
        __syncthreads();
    }
    int at = part[threadIdx.x] - own;
#pragma unroll
    for (int k = 0; k < 32; ++k) {
        int p = from + k;
        if (k < each && p < paras) first[p] = at;
        at += kept[k];
    }
    if (threadIdx.x == 1023) first[paras] = part[1023];
}

__global__ void number_words(const int* width, const int* first, int* line, int paras, int words, int limit)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paras) return;
    const int* w = width + (size_t)p * words;
    int* l = line + (size_t)p * words;
    int used = w[0];
    int at = first[p];
    l[0] = at;
    for (int i = 1; i < words; ++i) {
        if (used + 1 + w[i] <= limit) {
            used += 1 + w[i];
        } else {
            ++at;
            used = w[i];
        }
        l[i] = at;
    }
}

void reflow(const int* width, int* line, int* first, int paras, int words, int limit)
{
    int blocks = (paras + 127) / 128;
    count_lines<<<blocks, 128>>>(width, first, paras, words, limit);
    first_lines<<<1, 1024>>>(first, paras);
    number_words<<<blocks, 128>>>(width, first, line, paras, words, limit);
}
