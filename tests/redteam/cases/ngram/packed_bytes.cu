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

// The vocabulary of the byte-pair alphabet is 0 to 49, so a token is a byte and the eight tokens before an end one 64-bit word:
// the match is the number of low zero bytes of its difference from the word of the last eight.
// Larger nmax than eight go on from there token by token.
__global__ void propose(const int* tokens, const int* length, int* draft, int* matched, int cap, int nmax, int ask)
{
    __shared__ unsigned long long best;
    const int* tok = tokens + (size_t)blockIdx.x * cap;
    int len = min(max(length[blockIdx.x], 0), cap);
    if (threadIdx.x == 0) best = 0;
    __syncthreads();

    unsigned long long want = 0, mine = 0;
    for (int c = 0; c < 8; ++c)
        want |= (unsigned long long)(c < len ? tok[len - 1 - c] : 254) << (8 * c);

    // a thread walks a stretch of its own, so that the word is shifted on instead of being loaded anew
    int stretch = (len + blockDim.x - 1) / blockDim.x;
    int e0 = max(1, (int)threadIdx.x * stretch), e1 = min(len, ((int)threadIdx.x + 1) * stretch);
    unsigned long long have = 0;
    for (int c = 0; c < 8; ++c)
        have |= (unsigned long long)(c < e0 - 1 && e0 - 2 - c < len ? tok[e0 - 2 - c] : 255) << (8 * c);
    for (int e = e0; e < e1; ++e) {
        have = have << 8 | (unsigned)tok[e - 1];
        unsigned long long off = have ^ want;
        int n = off ? (__ffsll((long long)off) - 1) >> 3 : 8;
        if (n == 8)
            while (n < min(e, nmax) && tok[e - 1 - n] == tok[len - 1 - n]) ++n;
        n = min(n, nmax);
        if (n > 0) mine = max(mine, (unsigned long long)n << 32 | (0xffffffffu - (unsigned)e));
    }
    if (mine) atomicMax(&best, mine);
    __syncthreads();
    unsigned long long key = best;
    int n = (int)(key >> 32), e = key ? (int)(0xffffffffu - (unsigned)key) : 0;
    if (threadIdx.x == 0) matched[blockIdx.x] = n;
    for (int j = threadIdx.x; j < ask; j += blockDim.x)
        draft[(size_t)blockIdx.x * ask + j] = drafted(tok, len, n, e, j);
}

extern "C" void ngram(const int* tokens, const int* length, int* draft, int* matched, int seqs, int cap, int nmax, int ask)
{
    propose<<<seqs, 256>>>(tokens, length, draft, matched, cap, nmax, ask);
}
