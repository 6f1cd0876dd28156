// Rows of n numbers as rows of m: the ends stay where they are, between two numbers a straight line.
__global__ void resample(const float* x, float* y, int rows, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    const float* from = x + (size_t)blockIdx.y * n;
    int j = 0;
    float part = 0.f;
    if (m > 1) {
        unsigned gaps = m - 1;
        unsigned long long at = (unsigned long long)i * (n - 1);
        long long rest;
        if (n <= 1 << 20) {
            // The quotient by floats, and set right where it is one off.
            j = (int)((float)at * (1.f / gaps));
            rest = (long long)at - (long long)j * gaps;
            if (rest < 0) --j, rest += gaps;
            if (rest >= gaps) ++j, rest -= gaps;
        } else {
            j = (int)(at / gaps);
            rest = (long long)at - (long long)j * gaps;
        }
        part = (float)rest / gaps;
    }
    float left = from[j], right = from[min(j + 1, n - 1)];
    y[(size_t)blockIdx.y * m + i] = left + part * (right - left);
}
