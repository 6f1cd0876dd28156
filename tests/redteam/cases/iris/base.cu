#include <cuda_runtime.h>

// Iris recognition: each template is a ring of angular columns, 30 filter bits and 30 mask bits a column.
// A probe is turned by up to `reach` columns either way against every template of the gallery. What counts is
// the share of the bits valid on both sides that differ; a comparison on fewer than `least` bits does not count.
// Of equal shares the first template and, within it, the first turn wins.
struct Match { int differ, valid, shift; };

__global__ void score(const unsigned* probeCode, const unsigned* probeMask, const unsigned* code,
                      const unsigned* mask, Match* found, int gallery, int words, int reach, int least)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int p = blockIdx.y;
    if (g >= gallery) return;
    const unsigned* pc = probeCode + (size_t)p * words;
    const unsigned* pm = probeMask + (size_t)p * words;
    const unsigned* gc = code + (size_t)g * words;
    const unsigned* gm = mask + (size_t)g * words;
    Match best = {0, 0, 0};
    for (int s = -reach; s <= reach; s++) {
        int differ = 0, valid = 0;
        for (int j = 0; j < words; j++) {
            int k = ((j + s) % words + words) % words;
            unsigned both = pm[k] & gm[j];
            differ += __popc((pc[k] ^ gc[j]) & both);
            valid += __popc(both);
        }
        if (valid < least) continue;
        if (best.valid == 0 || (long long)differ * best.valid < (long long)best.differ * valid)
            best = {differ, valid, s};
    }
    found[(size_t)p * gallery + g] = best;
}

__global__ void pick(const Match* found, int* who, int* turn, int* differ, int* valid, int probes, int gallery)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= probes) return;
    Match best = {0, 0, 0};
    int first = -1;
    for (int g = 0; g < gallery; g++) {
        Match m = found[(size_t)p * gallery + g];
        if (m.valid == 0) continue;
        if (first < 0 || (long long)m.differ * best.valid < (long long)best.differ * m.valid) {
            best = m;
            first = g;
        }
    }
    who[p] = first;
    turn[p] = best.shift;
    differ[p] = best.differ;
    valid[p] = best.valid;
}

void iris(const unsigned* probeCode, const unsigned* probeMask, const unsigned* code, const unsigned* mask,
          int* who, int* turn, int* differ, int* valid, int probes, int gallery, int words, int reach, int least)
{
    Match* found;
    cudaMallocAsync((void**)&found, (size_t)probes * gallery * sizeof(Match), 0);
    dim3 grid((gallery + 127) / 128, probes);
    score<<<grid, 128>>>(probeCode, probeMask, code, mask, found, gallery, words, reach, least);
    pick<<<(probes + 63) / 64, 64>>>(found, who, turn, differ, valid, probes, gallery);
    cudaFreeAsync(found, 0);
}
