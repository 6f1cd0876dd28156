// The columns of each row in the order of their keys; equal keys stay in the order of the columns.
// A sorting network on words of key and column; what fills up to a power of two has the largest key.
__device__ void counted(const int* mine, int* out, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        int at = 0;
        for (int k = 0; k < cols; ++k) at += mine[k] < mine[c] || (mine[k] == mine[c] && k < c);
        out[at] = c;
    }
}

__global__ void arrange(const int* key, int* order, int rows, int cols) {
    __shared__ long long word[2048];
    const int* mine = key + (size_t)blockIdx.x * cols;
    int* out = order + (size_t)blockIdx.x * cols;
    if (cols > 2048) {
        counted(mine, out, cols);
        return;
    }
    int size = 1;
    while (size < cols) size *= 2;
    for (int c = threadIdx.x; c < size; c += blockDim.x)
        word[c] = (long long)(c < cols ? mine[c] : 0x7fffffff) * 4294967296ll + (c < cols ? c : 0);
    __syncthreads();
    for (int width = 2; width <= size; width *= 2)
        for (int apart = width / 2; apart > 0; apart /= 2) {
            for (int p = threadIdx.x; p < size / 2; p += blockDim.x) {
                int low = p / apart * 2 * apart + p % apart, high = low + apart;
                bool up = (low & width) == 0 || width == size;
                long long a = word[low], b = word[high];
                if ((a > b) == up) {
                    word[low] = b;
                    word[high] = a;
                }
            }
            __syncthreads();
        }
    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = (int)(word[c] & 0xffffffffll);
}
