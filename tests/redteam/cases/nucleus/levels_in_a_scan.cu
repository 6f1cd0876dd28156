// Nucleus sampling from quantised logits: eight steps of a logit halve a token's weight. Everything is done in whole
// numbers, so that a row's token does not depend on the order in which its weights are added.
#include <cuda_runtime.h>

typedef unsigned long long wide;

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
    __shared__ int top, level, rank;
    __shared__ wide heavy[8], point;
    __shared__ int many[8];
    const int row = blockIdx.x;
    const unsigned char* mine = logit + (size_t)row * vocab;

    count[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        top = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < vocab; i += 256) {
        atomicAdd(&count[mine[i]], 1);
        atomicMax(&top, (int)mine[i]);
    }
    __syncthreads();

    // Thread t has the t-th level from the top; the weights above it come from a scan.
    const unsigned part = min(max(share, 0), 65536);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int depth = threadIdx.x;
    const int here = depth <= top ? count[top - depth] : 0;
    const wide w = depth <= top ? weight_of(depth) : 0;
    wide up = w * here;
    int ahead = here;
    for (int s = 1; s < 32; s <<= 1) {
        const wide u = __shfl_up_sync(0xffffffffu, up, s);
        const int a = __shfl_up_sync(0xffffffffu, ahead, s);
        if (lane >= s) {
            up += u;
            ahead += a;
        }
    }
    if (lane == 31) {
        heavy[warp] = up;
        many[warp] = ahead;
    }
    __syncthreads();
    wide total = 0;
    for (int k = 0; k < 8; ++k) {
        if (k < warp) {
            up += heavy[k];
            ahead += many[k];
        }
        total += heavy[k];
    }
    wide need = (total >> 16) * part + (((total & 65535) * part + 65535) >> 16);
    need = need ? need : 1;
    const wide over = up - w * here;
    if (over < need && need <= up) {
        const wide take = (need - over + w - 1) / w;
        kept[row] = ahead - here + (int)take;
        point = __umul64hi((wide)coin[row] << 32, over + take * w);
    }
    __syncthreads();
    if (over <= point && point < up) {
        level = top - depth;
        rank = (int)((point - over) / w);
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
