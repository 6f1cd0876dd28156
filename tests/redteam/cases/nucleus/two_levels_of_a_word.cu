// Nucleus sampling from quantised logits: eight steps of a logit halve a token's weight. Everything is done in whole
// numbers, so that a row's token does not depend on the order in which its weights are added.
#include <cuda_runtime.h>

typedef unsigned long long wide;

// 2^20 * 2^(-d/8), rounded as the steps of an octave are.
__constant__ unsigned weights[256] = {
    1048576u, 961548u, 881744u, 808562u, 741455u, 679917u, 623487u, 571740u, 524288u, 480774u, 440872u, 404281u,
    370727u, 339958u, 311743u, 285870u, 262144u, 240387u, 220436u, 202140u, 185363u, 169979u, 155871u, 142935u,
    131072u, 120193u, 110218u, 101070u, 92681u, 84989u, 77935u, 71467u, 65536u, 60096u, 55109u, 50535u,
    46340u, 42494u, 38967u, 35733u, 32768u, 30048u, 27554u, 25267u, 23170u, 21247u, 19483u, 17866u,
    16384u, 15024u, 13777u, 12633u, 11585u, 10623u, 9741u, 8933u, 8192u, 7512u, 6888u, 6316u,
    5792u, 5311u, 4870u, 4466u, 4096u, 3756u, 3444u, 3158u, 2896u, 2655u, 2435u, 2233u,
    2048u, 1878u, 1722u, 1579u, 1448u, 1327u, 1217u, 1116u, 1024u, 939u, 861u, 789u,
    724u, 663u, 608u, 558u, 512u, 469u, 430u, 394u, 362u, 331u, 304u, 279u,
    256u, 234u, 215u, 197u, 181u, 165u, 152u, 139u, 128u, 117u, 107u, 98u,
    90u, 82u, 76u, 69u, 64u, 58u, 53u, 49u, 45u, 41u, 38u, 34u,
    32u, 29u, 26u, 24u, 22u, 20u, 19u, 17u, 16u, 14u, 13u, 12u,
    11u, 10u, 9u, 8u, 8u, 7u, 6u, 6u, 5u, 5u, 4u, 4u,
    4u, 3u, 3u, 3u, 2u, 2u, 2u, 2u, 2u, 1u, 1u, 1u,
    1u, 1u, 1u, 1u, 1u, 0u, 0u, 0u, 0u, 0u, 0u, 0u,
    0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u,
    0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u,
    0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u,
    0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u,
    0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u,
    0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u,
    0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u,
    0u, 0u, 0u, 0u,
};

#define weight_of(d) weights[d]

extern "C" __global__ void nucleus(const unsigned char* __restrict__ logit, const unsigned* __restrict__ coin,
                                   int* __restrict__ token, int* __restrict__ kept, int vocab, int share)
{
    __shared__ int count[256];
    __shared__ unsigned pair[128];
    __shared__ int before[257];
    __shared__ int top, level, rank;
    const int row = blockIdx.x;
    const unsigned char* mine = logit + (size_t)row * vocab;

    if (threadIdx.x < 128)
        pair[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        top = 0;
    __syncthreads();
    // Two levels share a word: half the banks, and room for another block.
    // Equal neighbours are counted together, and the highest level is kept in a register.
    int most = 0, last = -1, run = 0;
    for (int i = threadIdx.x; i < vocab; i += 256) {
        const int l = mine[i];
        if (l != last) {
            if (run)
                atomicAdd(&pair[last >> 1], (unsigned)run << (16 * (last & 1)));
            last = l;
            run = 0;
        }
        ++run;
        most = max(most, l);
    }
    if (run)
        atomicAdd(&pair[last >> 1], (unsigned)run << (16 * (last & 1)));
    for (int s = 16; s; s >>= 1)
        most = max(most, __shfl_xor_sync(0xffffffffu, most, s));
    if ((threadIdx.x & 31) == 0)
        atomicMax(&top, most);
    __syncthreads();
    count[threadIdx.x] = pair[threadIdx.x >> 1] >> (16 * (threadIdx.x & 1)) & 0xffffu;
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
