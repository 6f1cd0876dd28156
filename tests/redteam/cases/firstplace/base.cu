// The first column of each row that has the same key as this one.
__global__ void firstplace(const int* key, int* first, int rows, int cols) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * cols) return;
    size_t row = i / cols * cols;
    size_t at = row;
    while (key[at] != key[i]) ++at;
    first[i] = at - row;
}
