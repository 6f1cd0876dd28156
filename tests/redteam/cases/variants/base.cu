#include <cuda_runtime.h>

// Sites of a pile of reads where a letter other than the reference's is seen at least `least` times
// and makes up `permille` or more of the depth. counts holds A, C, G, T of each site, reference its
// letter (above 3: unknown, never called). A call is site << 32 | letter << 30 | depth, the depth
// cut off at 30 bits. The list has no order; found is where it stood before, plus the new calls.
extern "C" __global__ void variants(const int* counts, const unsigned char* reference,
                                    unsigned long long* list, int* found, int n, int permille,
                                    int least) {
    int site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= n || reference[site] > 3) {
        return;
    }
    long long depth = 0;
    int letter = -1;
    int most = 0;
    for (int c = 0; c < 4; c++) {
        int seen = max(counts[4 * (size_t)site + c], 0);
        depth += seen;
        if (c != reference[site] && (letter < 0 || seen > most)) {
            letter = c;
            most = seen;
        }
    }
    if (most < least || most * 1000ll < depth * permille) {
        return;
    }
    unsigned long long shown = depth < (1ll << 30) ? depth : (1ll << 30) - 1;
    list[atomicAdd(found, 1)] =
        (unsigned long long)site << 32 | (unsigned long long)letter << 30 | shown;
}
