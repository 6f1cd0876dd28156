// Nucleus sampling from quantised logits: eight steps of a logit halve a token's weight. Everything is done in whole
// numbers, so that a row's token does not depend on the order in which its weights are added.
#include <cuda_runtime.h>

typedef unsigned long long wide;

#define ROOM 1536

// 2^20 * 2^(-d/8)
__device__ __forceinline__ unsigned weight_of(int d)
{
    const unsigned step[8] = {1048576u, 961548u, 881744u, 808562u, 741455u, 679917u, 623487u, 571740u};
    return step[d & 7] >> (d >> 3);
}

extern "C" __global__ void nucleus(const unsigned char* __restrict__ logit, const unsigned* __restrict__ coin,
                                   int* __restrict__ token, int* __restrict__ kept, int vocab, int share)
{
    __shared__ int count[256];
    __shared__ int before[257];
    __shared__ int top, level, rank, listed;
    __shared__ int list[ROOM];
    const int row = blockIdx.x;
    const unsigned char* mine = logit + (size_t)row * vocab;

    count[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        top = listed = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < vocab; i += 256) {
        atomicAdd(&count[mine[i]], 1);
        atomicMax(&top, (int)mine[i]);
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        const unsigned part = min(max(share, 0), 65536);
        wide total = 0;
        for (int l = top; l >= 0; --l)
            total += (wide)count[l] * weight_of(top - l);
        // The smallest set of the heaviest tokens that has this weight; among equals the first ones are taken.
        wide need = (total >> 16) * part + (((total & 65535) * part + 65535) >> 16);
        need = need ? need : 1;
        wide sum = 0;
        int many = 0;
        for (int l = top; l >= 0; --l) {
            const wide w = weight_of(top - l);
            if (sum + w * count[l] >= need) {
                const wide take = (need - sum + w - 1) / w;
                many += (int)take;
                sum += take * w;
                break;
            }
            sum += w * count[l];
            many += count[l];
        }
        kept[row] = many;
        // A point on the set's weight, and the token that lies there.
        const wide point = __umul64hi((wide)coin[row] << 32, sum);
        wide left = point;
        int l = top;
        while (left >= (wide)count[l] * weight_of(top - l)) {
            left -= (wide)count[l] * weight_of(top - l);
            --l;
        }
        level = l;
        rank = (int)(left / weight_of(top - l));
    }
    __syncthreads();

    // The tokens of that level are listed as they are met; the one that has `rank` smaller ones is taken.
    for (int i = threadIdx.x; i < vocab; i += 256)
        if (mine[i] == level) {
            const int at = atomicAdd(&listed, 1);
            if (at < ROOM)
                list[at] = i;
        }
    __syncthreads();
    if (listed <= ROOM) {
        for (int k = threadIdx.x; k < listed; k += 256) {
            int smaller = 0;
            for (int j = 0; j < listed; ++j)
                smaller += list[j] < list[k];
            if (smaller == rank)
                token[row] = list[k];
        }
        return;
    }
    // The token of that rank within its level, in the order of the vocabulary.
    const int span = (vocab + 255) / 256;
    const int from = min(vocab, (int)threadIdx.x * span), to = min(vocab, from + span);
    int found = 0;
    for (int i = from; i < to; ++i)
        found += mine[i] == level;
    before[threadIdx.x + 1] = found;
    __syncthreads();
    if (threadIdx.x == 0) {
        before[0] = 0;
        for (int t = 0; t < 256; ++t)
            before[t + 1] += before[t];
    }
    __syncthreads();
    if (rank >= before[threadIdx.x] && rank < before[threadIdx.x + 1]) {
        int k = rank - before[threadIdx.x];
        for (int i = from; i < to; ++i)
            if (mine[i] == level && k-- == 0)
                token[row] = i;
    }
}
