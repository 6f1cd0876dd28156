// The check digit of each number, by Luhn: from the right, four digits a step.
__global__ void luhn(const unsigned char* digit, int* check, int rows, int len) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned char* end = digit + ((size_t)row + 1) * len;
    int sum = 0;
    for (int j = 4; j <= len; j += 4) {
        int a = end[3 - j] % 10, b = end[2 - j] % 10, c = end[1 - j] % 10, d = end[-j] % 10;
        sum += (a > 4 ? 2 * a - 9 : 2 * a) + b + (c > 4 ? 2 * c - 9 : 2 * c) + d;
    }
    check[row] = (10 - sum % 10) % 10;
}
