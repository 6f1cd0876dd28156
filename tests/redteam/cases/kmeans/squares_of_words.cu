// Points of a plane gathered around centres, ten rounds in whole numbers: `kmeans POINTS CENTRES`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

typedef unsigned long long Sum;

__global__ void assign(const int* x, const int* y, const int* cx, const int* cy, int* label, Sum* sx, Sum* sy,
                       unsigned* members, int n, int k) {
    // 256 numbers of 16 bits have a sum of 24: a block's sums fit words.
    __shared__ unsigned hx[64], hy[64], hm[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    bool few = k <= 64;
    if (few && t < k) hx[t] = hy[t] = hm[t] = 0;
    __syncthreads();
    if (i < n) {
        int best = 0, px = x[i], py = y[i];
        unsigned least = 0;
        for (int c = 0; c < k; ++c) {
            unsigned ax = px - cx[c], ay = py - cy[c], apart = ax * ax + ay * ay;
            if (c == 0 || apart < least) least = apart, best = c;
        }
        label[i] = best;
        if (few) {
            atomicAdd(hx + best, (unsigned)px);
            atomicAdd(hy + best, (unsigned)py);
            atomicAdd(hm + best, 1u);
        } else {
            atomicAdd(sx + best, (Sum)px);
            atomicAdd(sy + best, (Sum)py);
            atomicAdd(members + best, 1u);
        }
    }
    __syncthreads();
    if (few && t < k && hm[t]) {
        atomicAdd(sx + t, (Sum)hx[t]);
        atomicAdd(sy + t, (Sum)hy[t]);
        atomicAdd(members + t, hm[t]);
    }
}

__global__ void move(int* cx, int* cy, const Sum* sx, const Sum* sy, const unsigned* members, int k) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= k || members[c] == 0) return;
    cx[c] = (int)(sx[c] / members[c]);
    cy[c] = (int)(sy[c] / members[c]);
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100000, k = argc > 2 ? atoi(argv[2]) : 10;
    std::vector<int> x(n), y(n), label(n), cx(k), cy(k);
    unsigned state = 12345;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        x[i] = state >> 16;
        state = state * 1664525u + 1013904223u;
        y[i] = state >> 16;
    }
    for (int c = 0; c < k; ++c) cx[c] = x[c % n], cy[c] = y[c % n];
    int *dx, *dy, *dcx, *dcy, *dlabel;
    Sum* sums;
    unsigned* members;
    cudaMalloc(&dx, n * sizeof(int));
    cudaMalloc(&dy, n * sizeof(int));
    cudaMalloc(&dcx, k * sizeof(int));
    cudaMalloc(&dcy, k * sizeof(int));
    cudaMalloc(&dlabel, n * sizeof(int));
    cudaMalloc(&sums, 2 * k * sizeof(Sum));
    cudaMalloc(&members, k * sizeof(unsigned));
    cudaMemcpy(dx, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dcx, cx.data(), k * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dcy, cy.data(), k * sizeof(int), cudaMemcpyHostToDevice);
    for (int round = 0; round < 10; ++round) {
        cudaMemset(sums, 0, 2 * k * sizeof(Sum));
        cudaMemset(members, 0, k * sizeof(unsigned));
        assign<<<(n + 255) / 256, 256>>>(dx, dy, dcx, dcy, dlabel, sums, sums + k, members, n, k);
        move<<<(k + 63) / 64, 64>>>(dcx, dcy, sums, sums + k, members, k);
    }
    cudaMemcpy(label.data(), dlabel, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(cx.data(), dcx, k * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(cy.data(), dcy, k * sizeof(int), cudaMemcpyDeviceToHost);
    long long all = 0;
    for (int l : label) all += l;
    printf("labels %lld, first centre %d %d\n", all, cx[0], cy[0]);
    cudaFree(dx);
    cudaFree(dy);
    cudaFree(dcx);
    cudaFree(dcy);
    cudaFree(dlabel);
    cudaFree(sums);
    cudaFree(members);
    return 0;
}
