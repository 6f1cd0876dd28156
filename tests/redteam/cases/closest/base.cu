// The two points that lie closest, the first such pair in the order of i, then j; -1 if there is none.
__global__ void closest(const int* px, const int* py, int* pair, long long* apart, int n) {
    __shared__ long long best[1024];
    __shared__ int first[1024], second[1024];
    int t = threadIdx.x, a = -1, b = -1;
    long long d = -1;
    for (int i = t; i < n; i += 1024)
        for (int j = i + 1; j < n; ++j) {
            long long dx = px[i] - px[j], dy = py[i] - py[j], q = dx * dx + dy * dy;
            if (d < 0 || q < d) {
                d = q;
                a = i;
                b = j;
            }
        }
    best[t] = d;
    first[t] = a;
    second[t] = b;
    __syncthreads();
    for (int k = 512; k > 0; k /= 2) {
        if (t < k && best[t + k] >= 0) {
            bool nearer = best[t] < 0 || best[t + k] < best[t];
            if (nearer || (best[t + k] == best[t] && first[t + k] < first[t])) {
                best[t] = best[t + k];
                first[t] = first[t + k];
                second[t] = second[t + k];
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        pair[0] = first[0];
        pair[1] = second[0];
        apart[0] = best[0];
    }
}
