// Walkers on a round field who step aside where it is crowded: `crowd WALKERS CELLS STEPS`. Each cell has a
// list of those within.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void emptied(int* head, int cells) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cells) head[c] = -1;
}

// In front of whatever is the head when it is put there.
__global__ void linked(const unsigned* at, int* head, int* next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *list = &head[at[i] / 1000], seen = *(volatile int*)list, found;
    next[i] = seen;
    while ((found = atomicCAS(list, seen, i)) != seen) seen = found;
}

// Who has more than eight beside him at a distance of at most 100 leaves with a step that his own place tells.
__global__ void walked(const unsigned* at, unsigned* next_at, const int* head, const int* next, int n, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned own = at[i], near = 0;
    for (int j = head[own / 1000]; j >= 0; j = next[j]) {
        int d = (int)(at[j] - own);
        near += d <= 100 && d >= -100;
    }
    unsigned step = near > 9 ? (own * 2654435769u >> 16) % 2500u : near;
    next_at[i] = (own + step) % (cells * 1000u);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 4000000, cells = argc > 2 ? atoi(argv[2]) : 600;
    int steps = argc > 3 ? atoi(argv[3]) : 12;
    std::vector<unsigned> place(n);
    unsigned state = 77;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        place[i] = (state >> 8) % (cells * 1000u);
    }
    unsigned* at[2];
    int *head, *next;
    cudaMalloc(&at[0], n * sizeof(unsigned));
    cudaMalloc(&at[1], n * sizeof(unsigned));
    cudaMalloc(&head, cells * sizeof(int));
    cudaMalloc(&next, n * sizeof(int));
    cudaMemcpy(at[0], place.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
    for (int s = 0; s < steps; ++s) {
        emptied<<<(cells + 255) / 256, 256>>>(head, cells);
        linked<<<(n + 255) / 256, 256>>>(at[s % 2], head, next, n);
        walked<<<(n + 255) / 256, 256>>>(at[s % 2], at[1 - s % 2], head, next, n, cells);
    }
    cudaMemcpy(place.data(), at[steps % 2], n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) sum = sum * 31 + place[i];
    printf("checksum %u\n", sum);
    cudaFree(at[0]);
    cudaFree(at[1]);
    cudaFree(head);
    cudaFree(next);
    return 0;
}
