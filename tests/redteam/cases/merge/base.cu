// Two sorted lists as one: every number finds how many of the other list come before it.
__global__ void merge(const float* a, const float* b, float* out, int na, int nb) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= na + nb) return;
    bool first = i < na;
    int mine = first ? i : i - na;
    float v = first ? a[mine] : b[mine];
    const float* other = first ? b : a;
    int low = 0, high = first ? nb : na;
    while (low < high) {
        int mid = low + (high - low) / 2;
        bool before = first ? other[mid] < v : other[mid] <= v;
        if (before) low = mid + 1;
        else high = mid;
    }
    out[mine + low] = v;
}
