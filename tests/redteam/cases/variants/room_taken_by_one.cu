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

// Blocks stay; each makes room for the calls of 256 sites at a time.
extern "C" __global__ void variants(const int* counts, const unsigned char* reference,
                                    unsigned long long* list, int* found, int n, int permille,
                                    int least) {
    __shared__ int room[8];
    __shared__ int start;
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    for (long long first = blockIdx.x * 256ll; first < n; first += gridDim.x * 256ll) {
        long long site = first + threadIdx.x;
        unsigned long long call = 0;
        bool here = site < n && called(counts, reference, (int)site, permille, least, call);
        unsigned those = __ballot_sync(0xffffffffu, here);
        if (lane == 0) {
            room[warp] = __popc(those);
        }
        __syncthreads();
        int before = 0;
        int total = 0;
        for (int w = 0; w < 8; w++) {
            before += w < warp ? room[w] : 0;
            total += room[w];
        }
        if (threadIdx.x == 0 && total > 0) {
            start = *(volatile int*)found;
            *(volatile int*)found = start + total;
        }
        __syncthreads();
        if (here) {
            list[start + before + __popc(those & ((1u << lane) - 1))] = call;
        }
    }
}
