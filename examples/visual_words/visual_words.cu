// Bag of visual words: assign every image descriptor (dim bytes, as SIFT writes them) to the
// nearest word of a vocabulary, by squared Euclidean distance.
#include <climits>
#include <cuda_runtime.h>

typedef unsigned char byte;

__global__ void assign_kernel(const byte *descriptors, const byte *vocabulary, int *labels,
                              int *distances, int num_descriptors, int num_words, int dim)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num_descriptors) return;

    labels[i] = 0;
    distances[i] = INT_MAX;
    for (int w = 0; w < num_words; w++) {
        int dist = 0;
        for (int d = 0; d < dim; d++) {
            int diff = descriptors[i * dim + d] - vocabulary[w * dim + d];
            dist += diff * diff;
        }
        if (dist < distances[i]) {
            distances[i] = dist;
            labels[i] = w;
        }
    }
}

void assign_words(const unsigned char *descriptors, const unsigned char *vocabulary, int *labels,
                  int *distances, int num_descriptors, int num_words, int dim)
{
    dim3 block(256);
    dim3 grid((num_descriptors + block.x - 1) / block.x);
    assign_kernel<<<grid, block>>>(descriptors, vocabulary, labels, distances, num_descriptors,
                                   num_words, dim);
}
