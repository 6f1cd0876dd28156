// Shallow water between two walls, with steps as long as the fastest wave allows: `shallow CELLS STEPS`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void cleared(unsigned long long* top) { *top = 0; }

// The bits of positive numbers have their order.
__global__ void fastest(const double* h, const double* q, unsigned long long* top, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __shared__ double most[256];
    int t = threadIdx.x;
    most[t] = fabs(q[i] / h[i]) + sqrt(9.81 * h[i]);
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (t < half) most[t] = fmax(most[t], most[t + half]);
        __syncthreads();
    }
    if (t == 0) atomicMax(top, (unsigned long long)__double_as_longlong(most[0]));
}

__device__ double pressed(double h, double q) { return q * q / h + 4.905 * h * h; }

__global__ void stepped(const double* h, const double* q, double* h2, double* q2, const unsigned long long* top, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double by = 0.45 / __longlong_as_double(*top);
    int l = max(i - 1, 0), r = min(i + 1, n - 1);
    double ql = i > 0 ? q[l] : -q[0], qr = i < n - 1 ? q[r] : -q[n - 1];
    h2[i] = 0.5 * (h[l] + h[r]) - 0.5 * by * (qr - ql);
    q2[i] = 0.5 * (ql + qr) - 0.5 * by * (pressed(h[r], qr) - pressed(h[l], ql));
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 400000, steps = argc > 2 ? atoi(argv[2]) : 40;
    std::vector<double> h(n), q(n, 0.0);
    // A dam that breaks, and a deep place near the end.
    for (int i = 0; i < n; ++i) h[i] = i < n / 3 ? 2.0 : i >= n - 3 ? 9.0 : 1.0;
    double *on[2], *flow[2];
    unsigned long long* top;
    for (int k = 0; k < 2; ++k) {
        cudaMalloc(&on[k], n * sizeof(double));
        cudaMalloc(&flow[k], n * sizeof(double));
    }
    cudaMalloc(&top, sizeof(unsigned long long));
    cudaMemcpy(on[0], h.data(), n * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(flow[0], q.data(), n * sizeof(double), cudaMemcpyHostToDevice);
    int blocks = (n + 255) / 256;
    for (int s = 0; s < steps; ++s) {
        cleared<<<1, 1>>>(top);
        fastest<<<blocks, 256>>>(on[s % 2], flow[s % 2], top, n);
        stepped<<<blocks, 256>>>(on[s % 2], flow[s % 2], on[1 - s % 2], flow[1 - s % 2], top, n);
    }
    cudaMemcpy(h.data(), on[steps % 2], n * sizeof(double), cudaMemcpyDeviceToHost);
    cudaMemcpy(q.data(), flow[steps % 2], n * sizeof(double), cudaMemcpyDeviceToHost);
    double most = 0;
    for (int i = 0; i < n; ++i) most = h[i] > most ? h[i] : most;
    printf("deepest %.6f\n", most);
    for (int k = 0; k < 2; ++k) {
        cudaFree(on[k]);
        cudaFree(flow[k]);
    }
    cudaFree(top);
    return 0;
}
