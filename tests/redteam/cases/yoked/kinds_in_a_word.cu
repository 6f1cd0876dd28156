__global__ void yoked(const unsigned char* text, int* wrong, int* deepest, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    int depth = 0, most = 0, at = cols;
    long long kinds = 0;
    for (int i = 0; i < cols; ++i) {
        int c = line[i];
        if (c > 3) continue;
        if (c & 1) {
            kinds = kinds << 1 | c >> 1;
            most = max(most, ++depth);
        } else {
            if (depth == 0 || (kinds & 1) != c >> 1) {
                at = i;
                break;
            }
            kinds >>= 1;
            --depth;
        }
    }
    wrong[r] = at;
    deepest[r] = most;
}
