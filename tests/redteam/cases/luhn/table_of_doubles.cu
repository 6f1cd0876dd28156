// What a digit counts: as it is, and twice.
__constant__ unsigned char counts[2][10] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 2, 4, 6, 8, 1, 3, 5, 7, 9}};

// The check digit of each number, by Luhn, with what digits count from a table.
__global__ void luhn(const unsigned char* digit, int* check, int rows, int len) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned char* own = digit + (size_t)row * len;
    int sum = 0;
#pragma unroll 4
    for (int j = 0; j < len; ++j) sum += counts[(len - j) & 1][own[j] % 10];
    check[row] = (10 - sum % 10) % 10;
}
