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

__global__ void term_weights(const int* token, const int* df, float* weight, int docs, int len)
{
    __shared__ float part[128];
    const int* t = token + (size_t)blockIdx.x * len;
    float* w = weight + (size_t)blockIdx.x * len;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        int count = 0;
        bool fresh = true;
        for (int j = 0; j < len; ++j) {
            if (t[j] == t[i]) {
                ++count;
                if (j < i) fresh = false;
            }
        }
        int d = df[t[i]];
        float rare = log1pf((float)(docs - d) / (float)d);
        float raw = (float)count * rare;
        w[i] = raw;
        if (fresh) sum += raw * raw;
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
    term_weights<<<docs, 128>>>(token, df, weight, docs, len);
}
