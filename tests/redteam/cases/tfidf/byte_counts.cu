// Weighs the terms of documents: how often a term is in the document times the logarithm of how rare it is among
// the documents, each document scaled to length one. Every place of a document gets the weight of its term.
#include <cuda_runtime.h>
#include <math.h>

__global__ void document_counts(const int* token, int* df, int docs, int len)
{
    const int* t = token + (size_t)blockIdx.x * len;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        bool fresh = true;
        for (int j = 0; j < i; ++j) {
            if (t[j] == t[i]) fresh = false;
        }
        if (fresh) atomicAdd(&df[t[i]], 1);
    }
}

__global__ void term_weights(const int* token, const int* df, float* weight, int docs, int len, int fours)
{
    __shared__ float part[128];
    extern __shared__ unsigned times[];
    const int* t = token + (size_t)blockIdx.x * len;
    float* w = weight + (size_t)blockIdx.x * len;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < fours; i += blockDim.x) times[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < len; i += blockDim.x) atomicAdd(&times[t[i] >> 2], 1u << (t[i] & 3) * 8);
    __syncthreads();
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        int count = (int)(times[t[i] >> 2] >> (t[i] & 3) * 8 & 0xff);
        int d = df[t[i]];
        float rare = log1pf((float)(docs - d) / (float)d);
        float raw = (float)count * rare;
        w[i] = raw;
        sum += raw * rare;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    float norm = sqrtf(part[0]);
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        w[i] = norm > 0.0f ? w[i] / norm : 0.0f;
    }
}

void tfidf(const int* token, int* df, float* weight, int docs, int len, int vocab)
{
    cudaMemsetAsync(df, 0, (size_t)vocab * sizeof(int));
    document_counts<<<docs, 128>>>(token, df, docs, len);
    int fours = (vocab + 3) / 4;
    term_weights<<<docs, 128, fours * sizeof(unsigned)>>>(token, df, weight, docs, len, fours);
}
