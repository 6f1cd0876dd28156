// The first bracket of each line that closes what is not open or is of another kind, and how deep it goes before
// that. 1 and 3 open, 0 and 2 close what 1 and 3 opened, all else is text.
__global__ void yoked(const unsigned char* text, int* wrong, int* deepest, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    int depth = 0, most = 0, at = cols;
    for (int i = 0; i < cols; ++i) {
        int c = line[i];
        if (c > 3) continue;
        if (c & 1) {
            most = max(most, ++depth);
            continue;
        }
        if (depth == 0) {
            at = i;
            break;
        }
        int j = i, open = 1;
        while (open > 0) {
            int d = line[--j];
            if (d <= 3) open += d & 1 ? -1 : 1;
        }
        if (line[j] != c + 1) {
            at = i;
            break;
        }
        --depth;
    }
    wrong[r] = at;
    deepest[r] = most;
}
