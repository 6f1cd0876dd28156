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
    __shared__ int sums[32];
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x / 32;
    int carry = 0;
    for (int from = 0; from < paras; from += 1024) {
        int p = from + threadIdx.x;
        int lines = p < paras ? first[p] : 0;
        int v = lines;
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(0xffffffffu, v, d);
            if (lane >= d) v += other;
        }
        if (lane == 31) sums[warp] = v;
        __syncthreads();
        if (warp == 0) {
            int s = sums[lane];
            for (int d = 1; d < 32; d *= 2) {
                int other = __shfl_up_sync(0xffffffffu, s, d);
                if (lane >= d) s += other;
            }
            sums[lane] = s;
        }
        __syncthreads();
        int before = warp > 0 ? sums[warp - 1] : 0;
        if (p < paras) first[p] = carry + before + v - lines;
        carry += sums[31];
    }
    if (threadIdx.x == 0) first[paras] = carry;
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
