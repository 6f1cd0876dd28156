// The columns of each row in the order of their keys; equal keys stay in the order of the columns.
// A sorting network on keys that carries the columns along; what fills up comes last.
__device__ void counted(const int* mine, int* out, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        int at = 0;
        for (int k = 0; k < cols; ++k) at += mine[k] < mine[c] || (mine[k] == mine[c] && k < c);
        out[at] = c;
    }
}

__global__ void arrange(const int* key, int* order, int rows, int cols) {
    __shared__ int held[2048], place[2048];
    const int* mine = key + (size_t)blockIdx.x * cols;
    int* out = order + (size_t)blockIdx.x * cols;
    if (cols > 2048) {
        counted(mine, out, cols);
        return;
    }
    int size = 1;
    while (size < cols) size *= 2;
    for (int c = threadIdx.x; c < size; c += blockDim.x)
        held[c] = c < cols ? mine[c] : 0x7fffffff, place[c] = c;
    __syncthreads();
    for (int width = 2; width <= size; width *= 2)
        for (int apart = width / 2; apart > 0; apart /= 2) {
            for (int p = threadIdx.x; p < size / 2; p += blockDim.x) {
                int low = p / apart * 2 * apart + p % apart, high = low + apart;
                bool up = (low & width) == 0 || width == size;
                int a = held[low], b = held[high], i = place[low], j = place[high];
                // A filling never goes before a column.
                bool later = a > b || (a == b && i >= cols && j < cols);
                if (later == up) {
                    held[low] = b, place[low] = j;
                    held[high] = a, place[high] = i;
                }
            }
            __syncthreads();
        }
    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = place[c];
}
