#include <cuda_runtime.h>

// The call at a site; false where there is none.
__device__ __forceinline__ bool called(const int* counts, const unsigned char* reference,
                                       int site, int permille, int least,
                                       unsigned long long& call) {
    int own = reference[site];
    if (own > 3) {
        return false;
    }
    int depth = 0;
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
    if (most < least || most * 1000 < depth * permille) {
        return false;
    }
    unsigned long long shown = depth < (1 << 30) ? depth : (1 << 30) - 1;
    call = (unsigned long long)site << 32 | (unsigned long long)letter << 30 | shown;
    return true;
}

// One lane makes room for the calls of its warp.
extern "C" __global__ void variants(const int* counts, const unsigned char* reference,
                                    unsigned long long* list, int* found, int n, int permille,
                                    int least) {
    int site = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    unsigned long long call = 0;
    bool here = site < n && called(counts, reference, site, permille, least, call);
    unsigned those = __ballot_sync(0xffffffffu, here);
    if (those == 0) {
        return;
    }
    int start = 0;
    if (lane == __ffs(those) - 1) {
        start = atomicAdd(found, __popc(those));
    }
    start = __shfl_sync(0xffffffffu, start, __ffs(those) - 1);
    if (here) {
        list[start + __popc(those & ((1u << lane) - 1))] = call;
    }
}
