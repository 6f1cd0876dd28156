// Each row sorted: every number goes where the count of those before it says.
__global__ void rowsort(const int* x, int* out, int cols) {
    __shared__ int s[2048];
    const int* in = x + (size_t)blockIdx.x * cols;
    int* to = out + (size_t)blockIdx.x * cols;
    if (cols > 2048) {
        for (int i = threadIdx.x; i < cols; i += blockDim.x) {
            int v = in[i], rank = 0;
            for (int j = 0; j < cols; ++j) rank += in[j] < v || (in[j] == v && j < i);
            to[rank] = v;
        }
        return;
    }
    int size = 64;
    while (size < cols) size *= 2;
    // What pads the row is not smaller than anything in it.
    for (int i = threadIdx.x; i < size; i += blockDim.x) s[i] = i < cols ? in[i] : 2147483647;
    __syncthreads();
    for (int run = 2; run <= size; run *= 2)
        for (int d = run / 2; d > 0; d /= 2) {
            // Pair k of a warp lies in 64 numbers of its own while d is at most 32.
            bool wide = d > 32 || (d == 1 && run >= 64);
            for (int k = threadIdx.x; k < size / 2; k += blockDim.x) {
                int i = k / d * 2 * d + k % d, j = i + d;
                int a = s[i], b = s[j];
                if ((a > b) == ((i & run) == 0) && a != b) s[i] = b, s[j] = a;
            }
            if (wide) __syncthreads();
            else __syncwarp();
        }
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) to[i] = s[i];
}
