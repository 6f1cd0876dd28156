// Draft tokens for speculative decoding, looked up in the sequence itself. For each sequence of len = min(length, cap) tokens:
// the longest n <= nmax such that the last n tokens also stand somewhere earlier, at p with p + n < len (the two may
// overlap); of several such p the earliest. The draft is what follows there, up to `ask` tokens and not beyond len, the
// rest -1. matched is n, or 0 with a draft of -1 where not even the last token occurs earlier.
#include <cuda_runtime.h>
#include <cstddef>

// n: length of the match, e: the token behind it
__device__ __forceinline__ int drafted(const int* tok, int len, int n, int e, int j)
{
    return n > 0 && e + j < len ? tok[e + j] : -1;
}

// One pass: for every end e of a candidate, how many tokens before it agree with the last ones. The longest wins, then the earliest:
// both in one word, the length above and the distance from the far end of the field below.
__global__ void propose(const int* tokens, const int* length, int* draft, int* matched, int cap, int nmax, int ask)
{
    __shared__ unsigned best;
    const int* tok = tokens + (size_t)blockIdx.x * cap;
    int len = min(max(length[blockIdx.x], 0), cap);
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    unsigned mine = 0;
    for (int e = 1 + threadIdx.x; e < len; e += blockDim.x) {
        int n = 0;
        while (n < min(e, nmax) && tok[e - 1 - n] == tok[len - 1 - n]) ++n;
        if (n > 0) mine = max(mine, (unsigned)n << 14 | (16383u - (unsigned)e));
    }
    if (mine) atomicMax(&best, mine);
    __syncthreads();
    unsigned key = best;
    int n = (int)(key >> 14), e = key ? (int)(16383u - (key & 16383u)) : 0;
    if (threadIdx.x == 0) matched[blockIdx.x] = n;
    for (int j = threadIdx.x; j < ask; j += blockDim.x)
        draft[(size_t)blockIdx.x * ask + j] = drafted(tok, len, n, e, j);
}

extern "C" void ngram(const int* tokens, const int* length, int* draft, int* matched, int seqs, int cap, int nmax, int ask)
{
    propose<<<seqs, 256>>>(tokens, length, draft, matched, cap, nmax, ask);
}
