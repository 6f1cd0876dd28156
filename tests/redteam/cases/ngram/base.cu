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

__global__ void propose(const int* tokens, const int* length, int* draft, int* matched, int cap, int nmax, int ask)
{
    __shared__ int first;
    const int* tok = tokens + (size_t)blockIdx.x * cap;
    int len = min(max(length[blockIdx.x], 0), cap);
    int n = min(nmax, len - 1), e = 0;
    for (; n > 0; --n) {
        if (threadIdx.x == 0) first = len;
        __syncthreads();
        for (int p = threadIdx.x; p + n < len; p += blockDim.x) {
            bool same = true;
            for (int c = 0; c < n && same; ++c) same = tok[p + c] == tok[len - n + c];
            if (same) {
                atomicMin(&first, p);
                break;
            }
        }
        __syncthreads();
        int p = first;
        __syncthreads();
        if (p < len) {
            e = p + n;
            break;
        }
    }
    n = max(n, 0);
    if (threadIdx.x == 0) matched[blockIdx.x] = n;
    for (int j = threadIdx.x; j < ask; j += blockDim.x)
        draft[(size_t)blockIdx.x * ask + j] = drafted(tok, len, n, e, j);
}

extern "C" void ngram(const int* tokens, const int* length, int* draft, int* matched, int seqs, int cap, int nmax, int ask)
{
    propose<<<seqs, 256>>>(tokens, length, draft, matched, cap, nmax, ask);
}
