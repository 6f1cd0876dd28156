// Panel scores: the lowest `cut` and the highest `cut` marks of an athlete are dropped, the mean of the others
// is multiplied by the difficulty. A judge who gave no valid mark (negative, or not a number) is absent.
// Who has no mark left scores 0.
// An absent judge's mark is raised to -1 and then ranks below every mark that counts; the window of ranks
// moves up by the number of the absent.

extern "C" __global__ void gymnast(const float* mark, const float* difficulty, float* score, int* counted,
                                   int n, int judges, int cut) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* m = mark + (size_t)i * judges;

    int absent = 0;
    for (int j = 0; j < judges; ++j) {
        absent += fmaxf(m[j], -1.0f) < 0.0f;
    }

    int kept = 0;
    float sum = 0.0f;
    for (int j = 0; j < judges; ++j) {
        float s = fmaxf(m[j], -1.0f);
        if (s < 0.0f) continue;
        int rank = 0;
        for (int k = 0; k < judges; ++k) {
            float t = fmaxf(m[k], -1.0f);
            rank += k < j ? t <= s : t < s;
        }
        if (rank >= absent + cut && rank < judges - cut) {
            sum += s;
            ++kept;
        }
    }
    score[i] = kept > 0 ? sum / kept * difficulty[i] : 0.0f;
    counted[i] = kept;
}
