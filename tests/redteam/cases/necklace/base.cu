// Where the least rotation of each row of letters begins (the first such place).
__global__ void necklace(const unsigned char* s, int* start, int rows, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* w = s + (long long)r * n;
    int i = 0, j = 1, k = 0;
    while (i < n && j < n && k < n) {
        int a = w[(i + k) % n], b = w[(j + k) % n];
        if (a == b) {
            k++;
            continue;
        }
        if (a > b) i += k + 1;
        else j += k + 1;
        if (i == j) j++;
        k = 0;
    }
    start[r] = i < j ? i : j;
}
