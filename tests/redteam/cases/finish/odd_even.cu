// Places in races: 1 + how many were faster, and how many share the place. Not a number: did not
// finish, 0 and 0. Each block sorts the race by exchanges of neighbours and looks its runners up.
__global__ void finish(const float* time, int* place, int* shared, int n)
{
    extern __shared__ float s[];
    const float* t = time + (size_t)blockIdx.y * n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int starters = 0;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        s[j] = t[j];
        starters |= s[j] != s[j];
    }
    bool some_out = __syncthreads_or(starters);
    int faster = 0, same = 0;
    float mine = t[min(i, n - 1)];
    if (n < 64 || some_out) {
        for (int j = 0; j < n; j++) {
            faster += t[j] < mine;
            same += t[j] == mine;
        }
    } else {
        for (int phase = 0; phase < n; phase++) {
            int moved = 0;
            for (int j = 2 * threadIdx.x + (phase & 1); j + 1 < n; j += 2 * blockDim.x) {
                float a = s[j], b = s[j + 1];
                if (b < a) {
                    s[j] = b;
                    s[j + 1] = a;
                    moved = 1;
                }
            }
            if (!__syncthreads_or(moved)) break;        // all in order
        }
        int lo = 0, hi = n;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (s[mid] < mine) lo = mid + 1; else hi = mid;
        }
        faster = lo;
        hi = n;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (s[mid] <= mine) lo = mid + 1; else hi = mid;
        }
        same = lo - faster;
    }
    if (i >= n) return;
    bool out = mine != mine;
    place[(size_t)blockIdx.y * n + i] = out ? 0 : faster + 1;
    shared[(size_t)blockIdx.y * n + i] = out ? 0 : same;
}
