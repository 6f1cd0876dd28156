// The largest number of each part and where it is first; of no numbers, minus infinity and -1.
__global__ void ragged(const float* x, const int* start, float* most, int* where, int parts) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= parts) return;
    float m = -INFINITY;
    int at = -1;
    int i = start[p], to = start[p + 1];
    if (i < to) m = x[i], at = i++;
    for (; i + 1 < to; i += 2) {
        float u = x[i], v = x[i + 1];
        bool second = v > u || u != u;
        float top = second ? v : u;
        if (top > m) m = top, at = i + second;
    }
    if (i < to && x[i] > m) m = x[i], at = i;
    most[p] = m;
    where[p] = at;
}
