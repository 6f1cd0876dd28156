// Two sorted lists as one: a thread finds where the eight numbers of its own begin in both lists.
__global__ void merge(const float* a, const float* b, float* out, int na, int nb) {
    long long d = 8ll * (blockIdx.x * (long long)blockDim.x + threadIdx.x);
    if (d >= (long long)na + nb) return;
    int from = (int)d;
    int low = 0, high = min(from, na);
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (a[mid] <= b[from - 1 - mid]) low = mid + 1;
        else high = mid;
    }
    int i = low, j = from - low;
    for (int k = from; k < from + 8 && k < na + nb; ++k)
        out[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}
