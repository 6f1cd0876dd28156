// A block a row: each thread keeps the three best of its own columns, and the block takes the best of those four times.
__global__ void topk(const float* x, float* value, int* index, int rows, int cols) {
    __shared__ float best[256];
    __shared__ int place[256];
    const float* row = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float a = -INFINITY, b = -INFINITY, d = -INFINITY;
    int ai = -1, bi = -1, di = -1;
    for (int c = t; c < cols; c += 256) {
        float v = row[c];
        if (v > a) { d = b; di = bi; b = a; bi = ai; a = v; ai = c; }
        else if (v > b) { d = b; di = bi; b = v; bi = c; }
        else if (v > d) { d = v; di = c; }
    }
    for (int k = 0; k < 4; ++k) {
        best[t] = a;
        place[t] = ai;
        __syncthreads();
        for (int w = 128; w; w >>= 1) {
            if (t < w) {
                float o = best[t + w];
                int p = place[t + w];
                if (p >= 0 && (o > best[t] || place[t] < 0 || (o == best[t] && p < place[t]))) { best[t] = o; place[t] = p; }
            }
            __syncthreads();
        }
        float v = best[0];
        int p = place[0];
        __syncthreads();
        if (t == 0) { value[blockIdx.x * 4 + k] = p < 0 ? -INFINITY : v; index[blockIdx.x * 4 + k] = p; }
        if (p >= 0 && ai == p) { a = b; ai = bi; b = d; bi = di; d = -INFINITY; di = -1; }
    }
}
