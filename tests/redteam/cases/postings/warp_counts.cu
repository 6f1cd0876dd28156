// Inverted index of a synthetic corpus: how often each term occurs, where its list starts, and its list of documents
// in ascending order (a document once for every occurrence).
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void count_terms(const int* __restrict__ token, int tokens, int* count) {
    // Equal terms of a warp are counted with one atomic.
    int i = blockIdx.x * 256 + threadIdx.x;
    int term = i < tokens ? token[i] : -1;
    unsigned same = __match_any_sync(0xffffffffu, term);
    if (term >= 0 && (same & ((1u << (threadIdx.x & 31)) - 1)) == 0) atomicAdd(&count[term], __popc(same));
}

// start = exclusive sums of count; start[terms] = all.
__global__ void scan_terms(const int* __restrict__ count, int terms, int* __restrict__ start) {
    __shared__ int s[256];
    int t = threadIdx.x, carry = 0;
    for (int at = 0; at < terms; at += 256) {
        int v = at + t < terms ? count[at + t] : 0;
        s[t] = v;
        __syncthreads();
        for (int d = 1; d < 256; d <<= 1) {
            int a = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += a;
            __syncthreads();
        }
        if (at + t < terms) start[at + t] = carry + s[t] - v;
        carry += s[255];
        __syncthreads();
    }
    if (t == 0) start[terms] = carry;
}

// A warp to a term: walks over the corpus and appends the documents in order.
__global__ void fill_lists(const int* __restrict__ token, int tokens, int length, int terms,
                           const int* __restrict__ start, int* __restrict__ list) {
    int term = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (term >= terms) return;
    int to = start[term];
    for (int at = 0; at < tokens; at += 32) {
        bool hit = at + lane < tokens && token[at + lane] == term;
        unsigned hits = __ballot_sync(0xffffffffu, hit);
        if (hit) list[to + __popc(hits & ((1u << lane) - 1))] = (at + lane) / length;
        to += __popc(hits);
    }
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    int documents = atoi(argv[1]), length = atoi(argv[2]), terms = atoi(argv[3]);
    if (documents < 1 || length < 1 || terms < 1 || (long long)documents * length > 100000000ll) return 2;
    int tokens = documents * length;
    std::vector<int> corpus(tokens);
    unsigned long long state = 88172645463325252ull;
    for (int i = 0; i < tokens; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Frequent terms first: the square of a uniform number.
        double u = (double)(state >> 11) / 9007199254740992.0;
        corpus[i] = (int)(u * u * terms);
    }
    int *token, *count, *start, *list;
    cudaMalloc(&token, tokens * sizeof(int));
    cudaMalloc(&count, terms * sizeof(int));
    cudaMalloc(&start, (terms + 1) * sizeof(int));
    cudaMalloc(&list, tokens * sizeof(int));
    cudaMemcpy(token, corpus.data(), tokens * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(count, 0, terms * sizeof(int));
    count_terms<<<(tokens + 255) / 256, 256>>>(token, tokens, count);
    scan_terms<<<1, 256>>>(count, terms, start);
    fill_lists<<<(terms + 7) / 8, 256>>>(token, tokens, length, terms, start, list);
    std::vector<int> starts(terms + 1), lists(tokens);
    cudaMemcpy(starts.data(), start, (terms + 1) * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(lists.data(), list, tokens * sizeof(int), cudaMemcpyDeviceToHost);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        printf("failed: %s\n", cudaGetErrorString(error));
        return 1;
    }
    unsigned sum = 2166136261u;
    for (int t = 0; t <= terms; ++t) sum = (sum ^ (unsigned)starts[t]) * 16777619u;
    for (int i = 0; i < tokens; ++i) sum = (sum ^ (unsigned)lists[i]) * 16777619u;
    printf("%d postings, %d terms, sum %08x\n", tokens, terms, sum);
    cudaFree(token);
    cudaFree(count);
    cudaFree(start);
    cudaFree(list);
    return 0;
}
