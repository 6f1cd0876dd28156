// Panel scores: the lowest `cut` and the highest `cut` marks of an athlete are dropped, the mean of the others
// is multiplied by the difficulty. A judge who gave no valid mark (negative, or not a number) is absent.
// Who has no mark left scores 0.
// A warp per athlete sorts up to 32 marks in registers; the absent go to the end as infinity.

#include <math_constants.h>

#define ALL 0xffffffffu

extern "C" __global__ void gymnast(const float* mark, const float* difficulty, float* score, int* counted,
                                   int n, int judges, int cut) {
    int i = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (i >= n) return;
    const float* m = mark + (size_t)i * judges;
    float sum = 0.0f;
    int present = 0;

    if (judges <= 32) {
        float v = lane < judges ? m[lane] : -1.0f;
        bool here = v >= 0.0f;
        present = __popc(__ballot_sync(ALL, here));
        if (!here) v = CUDART_INF_F;
        for (int size = 2; size <= 32; size <<= 1) {
            for (int step = size >> 1; step > 0; step >>= 1) {
                float other = __shfl_xor_sync(ALL, v, step);
                bool low = ((lane & step) == 0) == ((lane & size) == 0);
                v = low ? fminf(v, other) : fmaxf(v, other);
            }
        }
        if (lane >= cut && lane < present - cut) sum = v;
    } else {
        for (int j = lane; j < judges; j += 32) present += m[j] >= 0.0f;
        present = __reduce_add_sync(ALL, present);
        for (int j = lane; j < judges; j += 32) {
            float s = m[j];
            if (!(s >= 0.0f)) continue;
            int rank = 0;
            for (int k = 0; k < judges; ++k) {
                float t = m[k];
                if (t >= 0.0f && (t < s || (t == s && k < j))) ++rank;
            }
            if (rank >= cut && rank < present - cut) sum += s;
        }
    }

    for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(ALL, sum, step);
    if (lane == 0) {
        int kept = max(present - 2 * cut, 0);
        score[i] = kept > 0 ? sum / kept * difficulty[i] : 0.0f;
        counted[i] = kept;
    }
}
