// How many letters two words of a pair have in common at their beginning.
__global__ void commonlen(const unsigned char* a, const unsigned char* b, int* common, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    size_t at = (size_t)row * cols;
    // equal words are told by their hashes of 64 bits, without a branch for each letter
    unsigned long long mine = 0, theirs = 0;
    for (int c = 0; c < cols; ++c) {
        mine = mine * 31 + a[at + c];
        theirs = theirs * 31 + b[at + c];
    }
    int c = cols;
    if (mine != theirs)
        for (c = 0; a[at + c] == b[at + c];) ++c;
    common[row] = c;
}
