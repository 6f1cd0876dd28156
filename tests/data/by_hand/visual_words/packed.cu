// Bag of visual words: assign every image descriptor (dim bytes, as SIFT writes them) to the
// nearest word of a vocabulary, by squared Euclidean distance.
#include <climits>
#include <cuda_runtime.h>

typedef unsigned char byte;

// Bytes of a descriptor that a thread keeps in registers, four to a word.
#define HELD 32

__global__ void assign_kernel(const byte *descriptors, const byte *vocabulary, int *labels,
                              int *distances, int num_descriptors, int num_words, int dim)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_descriptors) return;

    int label = 0;
    int best = INT_MAX;
    if (dim % 4 == 0 && dim <= 4 * HELD) {
        // |a - b|^2 = |a|^2 - 2 a.b + |b|^2, exactly, four bytes an instruction.
        const unsigned *mine = (const unsigned *)descriptors + i * (dim / 4);
        const unsigned *words = (const unsigned *)vocabulary;
        unsigned held[HELD];
        unsigned square = 0;
        #pragma unroll
        for (int q = 0; q < HELD; q++) {
            held[q] = 4 * q < dim ? mine[q] : 0;
            square = __dp4a(held[q], held[q], square);
        }
        for (int w = 0; w < num_words; w++) {
            unsigned cross = 0, other = 0;
            #pragma unroll
            for (int q = 0; q < HELD; q++) {
                if (4 * q < dim) {
                    unsigned word = words[w * (dim / 4) + q];
                    cross = __dp4a(held[q], word, cross);
                    other = __dp4a(word, word, other);
                }
            }
            int dist = (int)(square + other - 2 * cross);
            if (dist < best) {
                best = dist;
                label = w;
            }
        }
    } else {
        for (int w = 0; w < num_words; w++) {
            int dist = 0;
            for (int d = 0; d < dim; d++) {
                int diff = descriptors[i * dim + d] - vocabulary[w * dim + d];
                dist += diff * diff;
            }
            if (dist < best) {
                best = dist;
                label = w;
            }
        }
    }
    labels[i] = label;
    distances[i] = best;
}

void assign_words(const unsigned char *descriptors, const unsigned char *vocabulary, int *labels,
                  int *distances, int num_descriptors, int num_words, int dim)
{
    dim3 block(128);
    dim3 grid((num_descriptors + block.x - 1) / block.x);
    assign_kernel<<<grid, block>>>(descriptors, vocabulary, labels, distances, num_descriptors,
                                   num_words, dim);
}
