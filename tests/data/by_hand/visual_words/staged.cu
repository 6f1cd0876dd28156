// Bag of visual words: assign every image descriptor (dim bytes, as SIFT writes them) to the
// nearest word of a vocabulary, by squared Euclidean distance.
#include <climits>
#include <cuda_runtime.h>

typedef unsigned char byte;

// Bytes of a descriptor that a thread keeps in registers, four to a word.
#define HELD 32
// Words of the vocabulary that a block stages at once.
#define STAGED 64

__global__ void assign_kernel(const byte *descriptors, const byte *vocabulary, int *labels,
                              int *distances, int num_descriptors, int num_words, int dim)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int label = 0;
    int best = INT_MAX;
    if (dim % 4 == 0 && dim <= 4 * HELD) {
        __shared__ uint4 stage[STAGED][HELD / 4];
        __shared__ unsigned squares[STAGED];
        // |a - b|^2 = |a|^2 - 2 a.b + |b|^2, exactly, four bytes an instruction.
        const unsigned *mine = (const unsigned *)descriptors + i * (dim / 4);
        const unsigned *words = (const unsigned *)vocabulary;
        unsigned held[HELD];
        unsigned square = 0;
        #pragma unroll
        for (int q = 0; q < HELD; q++) {
            held[q] = 4 * q < dim && i < num_descriptors ? mine[q] : 0;
            square = __dp4a(held[q], held[q], square);
        }
        for (int first = 0; first < num_words; first += STAGED) {
            int count = min(STAGED, num_words - first);
            __syncthreads();
            for (int t = threadIdx.x; t < count * HELD; t += blockDim.x) {
                int w = t / HELD, q = t % HELD;
                // Bytes beyond dim are zero in both and add nothing.
                ((unsigned *)stage[w])[q] = 4 * q < dim ? words[(first + w) * (dim / 4) + q] : 0;
            }
            __syncthreads();
            for (int w = threadIdx.x; w < count; w += blockDim.x) {
                unsigned sum = 0;
                for (int q = 0; q < HELD; q++) {
                    unsigned word = ((unsigned *)stage[w])[q];
                    sum = __dp4a(word, word, sum);
                }
                squares[w] = sum;
            }
            __syncthreads();
            for (int w = 0; w < count; w++) {
                unsigned cross = 0;
                #pragma unroll
                for (int q = 0; q < HELD / 4; q++) {
                    uint4 word = stage[w][q];
                    cross = __dp4a(held[4 * q], word.x, cross);
                    cross = __dp4a(held[4 * q + 1], word.y, cross);
                    cross = __dp4a(held[4 * q + 2], word.z, cross);
                    cross = __dp4a(held[4 * q + 3], word.w, cross);
                }
                int dist = (int)(square + squares[w] - 2 * cross);
                if (dist < best) {
                    best = dist;
                    label = first + w;
                }
            }
        }
    } else if (i < num_descriptors) {
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
    if (i < num_descriptors) {
        labels[i] = label;
        distances[i] = best;
    }
}

void assign_words(const unsigned char *descriptors, const unsigned char *vocabulary, int *labels,
                  int *distances, int num_descriptors, int num_words, int dim)
{
    dim3 block(64);
    dim3 grid((num_descriptors + block.x - 1) / block.x);
    assign_kernel<<<grid, block>>>(descriptors, vocabulary, labels, distances, num_descriptors,
                                   num_words, dim);
}
