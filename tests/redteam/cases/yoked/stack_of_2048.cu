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
    unsigned kinds[64];
    int depth = 0, most = 0, at = cols;
    for (int i = 0; i < cols; ++i) {
        int c = line[i];
        if (c > 3) continue;
        if (c & 1) {
            if (depth < 2048) {
                int word = depth >> 5, bit = depth & 31;
                unsigned below = bit ? kinds[word] & ((1u << bit) - 1) : 0;
                kinds[word] = below | (unsigned)(c >> 1) << bit;
            }
            most = max(most, ++depth);
            continue;
        }
        if (depth == 0) {
            at = i;
            break;
        }
        --depth;
        int kind = depth < 2048 ? kinds[depth >> 5] >> (depth & 31) & 1 : opener(line, i) >> 1;
        if (kind != c >> 1) {
            at = i;
            break;
        }
    }
    wrong[r] = at;
    deepest[r] = most;
}
