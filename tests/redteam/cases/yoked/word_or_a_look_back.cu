__device__ int opener(const unsigned char* line, int i) {
    int open = 1;
    while (open > 0) {
        int d = line[--i];
        if (d <= 3) open += d & 1 ? -1 : 1;
    }
    return line[i];
}

__global__ void yoked(const unsigned char* text, int* wrong, int* deepest, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    int depth = 0, most = 0, at = cols, held = 0;
    unsigned kinds = 0;  // of the 32 opened last; what was opened before them is looked for where it is
    for (int i = 0; i < cols; ++i) {
        int c = line[i];
        if (c > 3) continue;
        if (c & 1) {
            kinds = kinds << 1 | c >> 1;
            held = min(held + 1, 32);
            most = max(most, ++depth);
            continue;
        }
        if (depth == 0) {
            at = i;
            break;
        }
        int kind = held > 0 ? kinds & 1 : opener(line, i) >> 1;
        if (kind != c >> 1) {
            at = i;
            break;
        }
        kinds >>= 1;
        held = max(held - 1, 0);
        --depth;
    }
    wrong[r] = at;
    deepest[r] = most;
}
