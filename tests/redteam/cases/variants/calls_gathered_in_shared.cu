#include <cuda_runtime.h>

// The call at a site; false where there is none.
__device__ __forceinline__ bool called(const int* counts, const unsigned char* reference,
                                       int site, int permille, int least,
                                       unsigned long long& call) {
    int own = reference[site];
    if (own > 3) {
        return false;
    }
    long long depth = 0;
    int letter = -1;
    int most = 0;
#pragma unroll
    for (int c = 0; c < 4; c++) {
        int seen = max(counts[4 * (size_t)site + c], 0);
        depth += seen;
        if (c != own && (letter < 0 || seen > most)) {
            letter = c;
            most = seen;
        }
    }
    if (most < least || most * 1000ll < depth * permille) {
        return false;
    }
    unsigned long long shown = depth < (1ll << 30) ? depth : (1ll << 30) - 1;
    call = (unsigned long long)site << 32 | (unsigned long long)letter << 30 | shown;
    return true;
}

#define HELD 192

// Calls are rare: a block gathers those of its 1024 sites in shared memory and writes them at once.
extern "C" __global__ void variants(const int* counts, const unsigned char* reference,
                                    unsigned long long* list, int* found, int n, int permille,
                                    int least) {
    __shared__ unsigned long long held[HELD];
    __shared__ int holds;
    __shared__ int start;
    if (threadIdx.x == 0) {
        holds = 0;
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        long long site = blockIdx.x * 1024ll + k * 256 + threadIdx.x;
        unsigned long long call;
        if (site < n && called(counts, reference, (int)site, permille, least, call)) {
            int slot = atomicAdd(&holds, 1);
            if (slot < HELD) {
                held[slot] = call;
            }
        }
    }
    __syncthreads();
    int total = min(holds, HELD);
    if (threadIdx.x == 0) {
        start = atomicAdd(found, total);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < total; i += 256) {
        list[start + i] = held[i];
    }
}
