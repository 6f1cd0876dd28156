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

__global__ void knots_values(const int* knot, const float* coef, const int* at, float* out, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m) return;
    int end = n + 3;
    int first = knot[0];
    int x16 = 16 * first + at[j] % (16 * (knot[end] - first) + 1);
    float x = x16 / 16.0f;
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
    float basis[4], left[4], right[4];
    basis[0] = 1.0f;
    for (int d = 1; d <= 3; d++) {
        left[d] = x - (float)knot[max(0, k + 1 - d)];
        right[d] = (float)knot[min(end, k + d)] - x;
        float saved = 0.0f;
        for (int r = 0; r < d; r++) {
            float part = basis[r] / (right[r + 1] + left[d - r]);
            basis[r] = saved + right[r + 1] * part;
            saved = left[d - r] * part;
        }
        basis[d] = saved;
    }
    float sum = 0.0f;
    for (int r = 0; r < 4; r++) {
        int i = k - 3 + r;
        if (i >= 0 && i < n) sum += basis[r] * coef[i];
    }
    out[j] = sum;
}

void knots(const int* gap, const float* coef, const int* at, float* out, int n, int m) {
    int* knot;
    cudaMalloc(&knot, (n + 4) * sizeof(int));
    knots_places<<<1, 256>>>(gap, knot, n + 4);
    knots_values<<<(m + 127) / 128, 128>>>(knot, coef, at, out, n, m);
    cudaFree(knot);
}
