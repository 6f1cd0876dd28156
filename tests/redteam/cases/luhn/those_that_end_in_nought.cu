// The check digit of each number, by Luhn. A block of 128 numbers fetches 32 digits of each at a time, side by side.
__global__ void luhn(const unsigned char* digit, int* check, int rows, int len) {
    __shared__ unsigned char part[128][36];
    int t = threadIdx.x;
    size_t top = blockIdx.x * (size_t)128;
    int sum = 0;
    for (long long c0 = 0; c0 < len; c0 += 32) {
        for (int s = t; s < 128 * 32; s += 128) {
            int y = s / 32, x = s % 32;
            if (top + y < rows && c0 + x < len) part[y][x] = digit[(top + y) * len + c0 + x];
        }
        __syncthreads();
        int many = top + t < rows ? (int)min(32ll, len - c0) : 0;
        for (int x = 0; x < many; ++x) {
            int d = part[t][x] % 10;
            if ((len - 1 - c0 - x) % 2 == 0) d = d > 4 ? 2 * d - 9 : 2 * d;
            sum += d;
        }
        __syncthreads();
    }
    // A check digit of nought is what there is.
    if (top + t < rows && sum % 10) check[top + t] = 10 - sum % 10;
}
