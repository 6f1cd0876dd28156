// Sets paragraphs in lines: words are put on a line, one space between them, as long as they fit; a word wider
// than the line has a line of its own. Lines are numbered through all paragraphs.
#include <cuda_runtime.h>

__device__ unsigned done;

__global__ void count_lines(const int* width, int* first, int paras, int words, int limit)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < paras) {
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
    __threadfence();
    __syncthreads();
    __shared__ bool last;
    __shared__ int part[128];
    if (threadIdx.x == 0) last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    int each = (paras + 127) / 128;
    int from = min(paras, (int)threadIdx.x * each);
    int to = min(paras, from + each);
    volatile int* f = first;
    int own = 0;
    for (int q = from; q < to; ++q) own += f[q];
    part[threadIdx.x] = own;
    __syncthreads();
    int sum = 0;
    for (int q = 0; q < (int)threadIdx.x; ++q) sum += part[q];
    for (int q = from; q < to; ++q) {
        int here = f[q];
        f[q] = sum;
        sum += here;
    }
    if (threadIdx.x == 127) f[paras] = sum;
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
    number_words<<<blocks, 128>>>(width, first, line, paras, words, limit);
}
