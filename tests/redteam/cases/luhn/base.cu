// The check digit of each number, by Luhn: from the right, every other digit twice, and nine less where that has two.
__global__ void luhn(const unsigned char* digit, int* check, int rows, int len) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned char* own = digit + (size_t)row * len;
    int sum = 0;
    for (int j = 0; j < len; ++j) {
        int d = own[len - 1 - j] % 10;
        if (j % 2 == 0) d = d > 4 ? 2 * d - 9 : 2 * d;
        sum += d;
    }
    check[row] = (10 - sum % 10) % 10;
}
