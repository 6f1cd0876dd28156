__device__ int sum_of(const unsigned char* own, int len) {
    int sum = 0;
    for (int j = 0; j < len; ++j) {
        int d = own[len - 1 - j] % 10;
        if (j % 2 == 0) d = d > 4 ? 2 * d - 9 : 2 * d;
        sum += d;
    }
    return sum;
}

// The check digit of each number, by Luhn. Long lists: two numbers a thread, so that more is on its way at once.
__global__ void luhn(const unsigned char* digit, int* check, int rows, int len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (rows >= 100000) {
        int half = rows / 2;
        if (i >= half) return;
        int a = sum_of(digit + (size_t)i * len, len), b = sum_of(digit + ((size_t)i + half) * len, len);
        check[i] = (10 - a % 10) % 10;
        check[i + half] = (10 - b % 10) % 10;
        return;
    }
    if (i < rows) check[i] = (10 - sum_of(digit + (size_t)i * len, len) % 10) % 10;
}
