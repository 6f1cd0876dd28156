__global__ void order(const int* __restrict__ key, int* sorted, unsigned short* from, int rows,
                      int cols) {
    __shared__ long long held[1024];
    const size_t row = (size_t)blockIdx.x * cols;
    if (cols > 1024) {
        for (int c = threadIdx.x; c < cols; c += blockDim.x) {
            int rank = 0;
            for (int k = 0; k < cols; ++k)
                rank += key[row + k] < key[row + c] || (key[row + k] == key[row + c] && k < c);
            sorted[row + rank] = key[row + c];
            from[row + rank] = c;
        }
        return;
    }
    int padded = 1;
    while (padded < cols) padded *= 2;
    for (int c = threadIdx.x; c < padded; c += blockDim.x)
        held[c] = c < cols ? ((long long)key[row + c] * 65536 + c) : 0x7fffffffffffffffLL;
    __syncthreads();
    for (int size = 2; size <= padded; size *= 2)
        for (int gap = size / 2; gap > 0; gap /= 2) {
            for (int c = threadIdx.x; c < padded; c += blockDim.x) {
                const int other = c ^ gap;
                if (other > c) {
                    const long long a = held[c], b = held[other];
                    if ((a > b) == ((c & size) == 0)) {
                        held[c] = b;
                        held[other] = a;
                    }
                }
            }
            __syncthreads();
        }
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        sorted[row + c] = (int)(held[c] >> 16);
        from[row + c] = (unsigned short)(held[c] & 65535);
    }
}
