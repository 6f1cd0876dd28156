// The largest number of each part and where it is first; of no numbers, minus infinity and -1.
__global__ void ragged(const float* x, const int* start, float* most, int* where, int parts) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= parts) return;
    float m = -INFINITY;
    int at = -1;
    for (int i = start[p]; i < start[p + 1]; ++i)
        if (at < 0 || x[i] > m) {
            m = x[i];
            at = i;
        }
    most[p] = m;
    where[p] = at;
}
