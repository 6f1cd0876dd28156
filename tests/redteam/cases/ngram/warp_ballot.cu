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

// A warp a sequence, ends taken 32 at a time from the front. A longer match replaces a shorter one, an equal one never does, so
// the earliest stays; within a step the lowest lane is the earliest. Nothing beats a match of the full length: stop there.
__global__ void propose(const int* tokens, const int* length, int* draft, int* matched, int seqs, int cap, int nmax, int ask)
{
    int s = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (s >= seqs) return;
    const int* tok = tokens + (size_t)s * cap;
    int len = min(max(length[s], 0), cap);
    int best = 0, end = 0;
    for (int from = 1; from < len && best < nmax; from += 32) {
        int e = from + lane, n = 0;
        if (e < len)
            while (n < min(e, nmax) && tok[e - 1 - n] == tok[len - 1 - n]) ++n;
        int most = __reduce_max_sync(0xffffffffu, n);
        if (most > best) {
            best = most;
            end = from + __ffs(__ballot_sync(0xffffffffu, n == most)) - 1;
        }
    }
    if (lane == 0) matched[s] = best;
    for (int j = lane; j < ask; j += 32)
        draft[(size_t)s * ask + j] = drafted(tok, len, best, end, j);
}

extern "C" void ngram(const int* tokens, const int* length, int* draft, int* matched, int seqs, int cap, int nmax, int ask)
{
    propose<<<(seqs + 7) / 8, 256>>>(tokens, length, draft, matched, seqs, cap, nmax, ask);
}
