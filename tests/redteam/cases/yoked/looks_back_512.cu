__global__ void yoked(const unsigned char* text, int* wrong, int* deepest, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    int depth = 0, most = 0, at = cols, last = -1;
    for (int i = 0; i < cols; ++i) {
        int c = line[i];
        if (c > 3) continue;
        if (c & 1) {
            last = c;
            most = max(most, ++depth);
            continue;
        }
        if (depth == 0) {
            at = i;
            break;
        }
        if (last < 0) {
            // What was opened last is closed already: look for the one around it.
            int open = 1;
            for (int j = i - 1; j >= max(0, i - 512); --j) {
                int d = line[j];
                if (d > 3) continue;
                open += d & 1 ? -1 : 1;
                if (open == 0) {
                    last = d;
                    break;
                }
            }
        }
        if (last >= 0 && last != c + 1) {
            at = i;
            break;
        }
        last = -1;
        --depth;
    }
    wrong[r] = at;
    deepest[r] = most;
}
