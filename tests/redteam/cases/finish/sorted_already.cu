// Places in races: 1 + how many were faster, and how many share the place. Not a number: did not
// finish, 0 and 0.
__global__ void finish(const float* time, int* place, int* shared, int n)
{
    const float* t = time + (size_t)blockIdx.y * n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // many lists come in order: looked up there
    bool disorder = false;
    for (int j = threadIdx.x; j + 1 < n; j += blockDim.x) disorder |= t[j] > t[j + 1];
    bool ordered = !__syncthreads_or(disorder);
    if (i >= n) return;
    float mine = t[i];
    int faster = 0, same = 0;
    if (ordered) {
        int lo = 0, hi = n;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (t[mid] < mine) lo = mid + 1; else hi = mid;
        }
        faster = lo;
        hi = n;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (t[mid] <= mine) lo = mid + 1; else hi = mid;
        }
        same = lo - faster;
    } else
    for (int j = 0; j < n; j++) {
        faster += t[j] < mine;
        same += t[j] == mine;
    }
    bool out = mine != mine;
    place[(size_t)blockIdx.y * n + i] = out ? 0 : faster + 1;
    shared[(size_t)blockIdx.y * n + i] = out ? 0 : same;
}
