// How much has to be moved how far to make one histogram of the other, for each pair of rows.
__global__ void emd(const int* a, const int* b, long long* out, int rows, int bins) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    long long over = 0, sum = 0;
    for (int k = 0; k < bins; ++k) {
        over += (long long)a[(size_t)r * bins + k] - b[(size_t)r * bins + k];
        sum += over < 0 ? -over : over;
    }
    out[r] = sum;
}
