// A cubic spline over knots that are whole numbers and may coincide; it is evaluated at sixteenths.
#include <cuda_runtime.h>

__global__ void knots_places(const int* gap, int* knot, int count) {
    __shared__ int sums[256];
    int t = threadIdx.x;
    int each = (count + 255) / 256;
    int from = min(count, t * each), to = min(count, from + each);
    int sum = 0;
    for (int i = from; i < to; i++) sum += gap[i];
    sums[t] = sum;
    __syncthreads();
    if (t == 0) {
        int run = 0;
        for (int k = 0; k < 256; k++) {
            int s = sums[k];
            sums[k] = run;
            run += s;
        }
    }
    __syncthreads();
    sum = sums[t];
    for (int i = from; i < to; i++) {
        sum += gap[i];
        knot[i] = sum;
    }
}

struct Cubic {
    double x, y, z, w;
};

// The cubic of each span, in powers of what lies behind its first knot.
__global__ void knots_cubics(const int* knot, const float* coef, Cubic* cubic, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int end = n + 3;
    if (k >= end || knot[k] == knot[k + 1]) return;
    double value[4][4];   // a polynomial for each of four coefficients
    for (int r = 0; r < 4; r++) {
        int i = k - 3 + r;
        value[r][0] = i >= 0 && i < n ? coef[i] : 0.0;
        value[r][1] = value[r][2] = value[r][3] = 0.0;
    }
    for (int d = 1; d <= 3; d++)
        for (int r = 3; r >= d; r--) {
            int i = k - 3 + r;
            double before = knot[max(0, i)], behind = knot[min(end, i + 4 - d)];
            double slope = 1.0 / (behind - before), start = (knot[k] - before) * slope;
            for (int p = 3; p >= 0; p--) {
                double step = value[r][p] - value[r - 1][p];
                double lower = p ? value[r][p - 1] - value[r - 1][p - 1] : 0.0;
                value[r][p] = value[r - 1][p] + start * step + slope * lower;
            }
        }
    cubic[k] = Cubic{value[3][0], value[3][1], value[3][2], value[3][3]};
}

__global__ void knots_values(const int* knot, const Cubic* cubic, const int* at, float* out, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m) return;
    int end = n + 3;
    int first = knot[0];
    int x16 = 16 * first + at[j] % (16 * (knot[end] - first) + 1);
    int low = 0, high = end;   // the last knot that is not behind x
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (16 * knot[mid] <= x16) low = mid; else high = mid - 1;
    }
    int k = low;
    if (k == end) {
        out[j] = 0.0f;
        return;
    }
    double u = (x16 - 16 * knot[k]) / 16.0;
    Cubic c = cubic[k];
    out[j] = (float)(((c.w * u + c.z) * u + c.y) * u + c.x);
}

void knots(const int* gap, const float* coef, const int* at, float* out, int n, int m) {
    int* knot;
    cudaMalloc(&knot, (n + 4) * sizeof(int));
    knots_places<<<1, 256>>>(gap, knot, n + 4);
    Cubic* cubic;
    cudaMalloc(&cubic, (n + 3) * sizeof(Cubic));
    knots_cubics<<<(n + 3 + 63) / 64, 64>>>(knot, coef, cubic, n);
    knots_values<<<(m + 127) / 128, 128>>>(knot, cubic, at, out, n, m);
    cudaFree(cubic);
    cudaFree(knot);
}
