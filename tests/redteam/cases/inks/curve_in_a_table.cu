__constant__ unsigned char curve[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6,
    6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 12, 13, 13, 14, 14, 14, 15, 15, 16, 16, 17, 17, 18,
    18, 19, 19, 20, 21, 21, 22, 22, 23, 24, 24, 25, 25, 26, 27, 27, 28, 29, 30, 30, 31, 32, 33, 33, 34, 35, 36, 37,
    37, 38, 39, 40, 41, 42, 43, 44, 44, 45, 46, 47, 48, 49, 50, 51, 52, 54, 55, 56, 57, 58, 59, 60, 61, 62, 64, 65,
    66, 67, 69, 70, 71, 72, 74, 75, 76, 78, 79, 81, 82, 83, 85, 86, 88, 89, 91, 92, 94, 95, 97, 98, 100, 102, 103,
    105, 107, 108, 110, 112, 114, 115, 117, 119, 121, 123, 124, 126, 128, 130, 132, 134, 136, 138, 140, 142, 144, 146,
    148, 150, 152, 154, 157, 159, 161, 163, 165, 168, 170, 172, 175, 177, 179, 182, 184, 187, 189, 192, 194, 197, 199,
    202, 204, 207, 209, 212, 215, 217, 220, 223, 226, 228, 231, 234, 237, 240, 243, 246, 249, 252, 255};

__device__ int black(int common) { return curve[common]; }

// Black takes the place of what the three colours have in common, as far as the curve says. What is more ink than the
// paper takes is left out of the colours alike.
__device__ unsigned separated(unsigned p, int limit) {
    int c = 255 - (p & 255), m = 255 - (p >> 8 & 255), y = 255 - (p >> 16 & 255);
    int k = black(min(c, min(m, y)));
    c -= k;
    m -= k;
    y -= k;
    int colours = c + m + y, room = max(limit - k, 0);
    if (colours > room) {
        c = c * room / colours;
        m = m * room / colours;
        y = y * room / colours;
    }
    return c | m << 8 | y << 16 | (unsigned)k << 24;
}

// Pixels become inks for a press, in place. The curve is a table, and blocks stay.
__global__ void inks(unsigned* pixel, int n, int limit) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        pixel[i] = separated(pixel[i], limit);
}
