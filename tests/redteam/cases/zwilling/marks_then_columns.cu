__device__ unsigned long long mixed(unsigned v) {
    unsigned long long z = (v + 1ull) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

__device__ unsigned long long mark(const int* row, int cols) {
    unsigned long long sum = cols;
    for (int k = 0; k < cols; ++k) sum += mixed(row[k]);
    return sum;
}

__device__ bool same(const int* a, const int* b, int cols) {
    for (int k = 0; k < cols; ++k)
        if (a[k] != b[k]) return false;
    return true;
}

__global__ void zwilling(const int* x, int* first, int rows, int cols) {
    __shared__ unsigned long long marks[256];
    int i = blockIdx.x * 256 + threadIdx.x, found = i;
    unsigned long long own = i < rows ? mark(x + (size_t)i * cols, cols) : 0;
    for (int tile = 0; tile <= blockIdx.x; ++tile) {
        int row = tile * 256 + threadIdx.x;
        __syncthreads();
        marks[threadIdx.x] = row < rows ? mark(x + (size_t)row * cols, cols) : 0;
        __syncthreads();
        if (i >= rows || found < i) continue;
        for (int k = 0; k < 256 && tile * 256 + k < i; ++k)
            if (marks[k] == own && same(x + (size_t)(tile * 256 + k) * cols, x + (size_t)i * cols, cols)) {
                found = tile * 256 + k;
                break;
            }
    }
    if (i < rows) first[i] = found;
}
