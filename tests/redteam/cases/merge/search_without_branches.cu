// Two sorted lists as one: every number finds how many of the other list come before it.
__global__ void merge(const float* a, const float* b, float* out, int na, int nb) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= na + nb) return;
    bool first = i < na;
    int mine = first ? i : i - na;
    float v = first ? a[mine] : b[mine];
    const float* other = first ? b : a;
    int low = 0, high = first ? nb : na;
    // `high` is how many are left from `low` on.
    while (high > 0) {
        int half = high / 2;
        bool before = other[low + half] < v;
        low += before ? half + 1 : 0;
        high = before ? high - half - 1 : half;
    }
    out[mine + low] = v;
}
