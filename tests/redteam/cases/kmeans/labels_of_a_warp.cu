// Points of a plane gathered around centres, ten rounds in whole numbers: `kmeans POINTS CENTRES`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

typedef unsigned long long Sum;

__global__ void assign(const int* x, const int* y, const int* cx, const int* cy, int* label, Sum* sx, Sum* sy,
                       unsigned* members, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int best = -1, px = 0, py = 0;
    if (i < n) {
        px = x[i], py = y[i];
        long long least = 0;
        for (int c = 0; c < k; ++c) {
            long long ax = px - cx[c], ay = py - cy[c], apart = ax * ax + ay * ay;
            if (c == 0 || apart < least) least = apart, best = c;
        }
        label[i] = best;
    }
    // One label of the warp after the other: those who have it are added up first.
    unsigned todo = __ballot_sync(0xffffffffu, best >= 0);
    while (todo) {
        int first = __ffs(todo) - 1, c = __shfl_sync(0xffffffffu, best, first);
        unsigned same = __ballot_sync(0xffffffffu, best == c);
        unsigned ax = __reduce_add_sync(0xffffffffu, best == c ? (unsigned)px : 0u);
        unsigned ay = __reduce_add_sync(0xffffffffu, best == c ? (unsigned)py : 0u);
        if (threadIdx.x % 32 == first) {
            atomicAdd(sx + c, (Sum)ax);
            atomicAdd(sy + c, (Sum)ay);
            atomicAdd(members + c, (unsigned)__popc(same));
        }
        todo &= ~same;
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
