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

// Ends are taken a block's width at a time from the front. A full-length match cannot be beaten, and what comes later in the row
// cannot be earlier: the block stops at the first width that holds one.
__global__ void propose(const int* tokens, const int* length, int* draft, int* matched, int cap, int nmax, int ask)
{
    __shared__ unsigned long long best;
    __shared__ int full;
    const int* tok = tokens + (size_t)blockIdx.x * cap;
    int len = min(max(length[blockIdx.x], 0), cap);
    if (threadIdx.x == 0) {
        best = 0;
        full = 0;
    }
    __syncthreads();
    for (int from = 1; from < len; from += blockDim.x) {
        int e = from + threadIdx.x, n = 0;
        if (e < len)
            while (n < min(e, nmax) && tok[e - 1 - n] == tok[len - 1 - n]) ++n;
        if (n == nmax && n > 0) atomicCAS(&full, 0, e);
        else if (n > 0) atomicMax(&best, (unsigned long long)n << 32 | (0xffffffffu - (unsigned)e));
        if (__syncthreads_or(n == nmax && n > 0)) break;
    }
    __syncthreads();
    int n = full ? nmax : (int)(best >> 32);
    int e = full ? full : best ? (int)(0xffffffffu - (unsigned)best) : 0;
    if (threadIdx.x == 0) matched[blockIdx.x] = n;
    for (int j = threadIdx.x; j < ask; j += blockDim.x)
        draft[(size_t)blockIdx.x * ask + j] = drafted(tok, len, n, e, j);
}

extern "C" void ngram(const int* tokens, const int* length, int* draft, int* matched, int seqs, int cap, int nmax, int ask)
{
    propose<<<seqs, 256>>>(tokens, length, draft, matched, cap, nmax, ask);
}
