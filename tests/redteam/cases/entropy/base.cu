// The entropy of a row of counts; that of a row of zeros is 0.
__global__ void entropy(const int* counts, float* out, int cols) {
    __shared__ double parts[256];
    __shared__ long long wholes[256];
    const int* row = counts + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    long long n = 0;
    for (int c = t; c < cols; c += 256) n += row[c];
    wholes[t] = n;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) wholes[t] += wholes[t + d];
        __syncthreads();
    }
    n = wholes[0];
    double s = 0;
    for (int c = t; c < cols; c += 256) {
        double p = (double)row[c] / n;
        if (row[c] > 0) s -= p * log(p);
    }
    parts[t] = s;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) parts[t] += parts[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = (float)parts[0];
}
