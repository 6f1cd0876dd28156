// How many letters two words of a pair have in common at their beginning.
__global__ void commonlen(const unsigned char* a, const unsigned char* b, int* common, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    size_t at = (size_t)row * cols;
    int c = 0;
    while (c < cols && a[at + c] == b[at + c]) ++c;
    common[row] = c;
}
