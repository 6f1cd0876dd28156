// Greedy setting of paragraphs into lines of a given measure.
// Each paragraph has the same number of words; a word takes width[] columns and a single space parts two words of a line.
// A word goes on the current line if it still fits, else it begins the next one; a word wider than the measure gets a
// line to itself and hangs over. Written are the line of every word, the number of lines, and the raggedness: the sum
// over all lines but the last of the squared room left over (a line that hangs over leaves none).
#include <cuda_runtime.h>
#include <stddef.h>

// One thread sets a whole paragraph: greedy setting needs nothing but the columns used so far.
__global__ void walk_kernel(const int* width, int* line, int* lines, long long* ragged, int paras, int words,
                            int measure)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paras) return;
    const int* w = width + (size_t)p * words;
    int* out = line + (size_t)p * words;
    int used = -1, count = 0;
    int cost = 0;
    for (int i = 0; i < words; ++i) {
        int next = w[i];
        if (i > 0 && used + 1 + next > measure) {
            // a line ends; what is left over is less than the word that did not fit and its space
            int left = max(0, measure - used);
            cost += left * left;
            ++count;
            used = -1;
        }
        used += 1 + next;
        out[i] = count;
    }
    lines[p] = count + 1;
    ragged[p] = cost;
}

extern "C" void justify(const int* width, int* line, int* lines, long long* ragged, int paras, int words, int measure)
{
    walk_kernel<<<(paras + 63) / 64, 64>>>(width, line, lines, ragged, paras, words, measure);
}
