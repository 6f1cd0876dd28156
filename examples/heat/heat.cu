/*
 * 2-D heat equation, explicit Euler, on a square plate with a hot disc in the middle and its
 * edges kept at a fixed temperature.
 *
 * usage: heat [points per side] [time steps]
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>

#define IDX(i, j, n) ((i) * (n) + (j))

static void check(cudaError_t code, const char *what)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

/* One time step. The boundary keeps its value. */
__global__ void heat_step(const double *u, double *u_new, int n, double alpha, double dt,
                          double dx, double dy)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && j < n) {
        if (i == 0 || j == 0 || i == n - 1 || j == n - 1) {
            u_new[IDX(i, j, n)] = u[IDX(i, j, n)];
        } else {
            double uxx = (u[IDX(i + 1, j, n)] - 2.0 * u[IDX(i, j, n)] + u[IDX(i - 1, j, n)])
                         / pow(dx, 2);
            double uyy = (u[IDX(i, j + 1, n)] - 2.0 * u[IDX(i, j, n)] + u[IDX(i, j - 1, n)])
                         / pow(dy, 2);
            u_new[IDX(i, j, n)] = u[IDX(i, j, n)] + alpha * dt * (uxx + uyy);
        }
    }
}

int main(int argc, char *argv[])
{
    int n = argc > 1 ? atoi(argv[1]) : 2048;
    int steps = argc > 2 ? atoi(argv[2]) : 20;

    const double alpha = 0.5;
    const double dx = 1.0 / (n - 1);
    const double dy = dx;
    const double dt = 0.2 * dx * dx / alpha; /* stable below 0.25 */

    size_t bytes = (size_t)n * n * sizeof(double);
    double *u = (double *)malloc(bytes);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double x = i * dx - 0.5, y = j * dy - 0.5;
            u[IDX(i, j, n)] = (x * x + y * y < 0.0625) ? 65.0 : 5.0;
        }
    }

    double *d_u, *d_u_new;
    check(cudaMalloc((void **)&d_u, bytes), "cudaMalloc u");
    check(cudaMalloc((void **)&d_u_new, bytes), "cudaMalloc u_new");
    check(cudaMemcpy(d_u, u, bytes, cudaMemcpyHostToDevice), "copy to device");

    dim3 block(16, 16);
    dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    for (int t = 0; t < steps; t++) {
        heat_step<<<grid, block>>>(d_u, d_u_new, n, alpha, dt, dx, dy);
        check(cudaGetLastError(), "heat_step");
        /* the new field is the old field of the next step */
        check(cudaMemcpy(d_u, d_u_new, bytes, cudaMemcpyDeviceToDevice), "copy back");
    }
    check(cudaMemcpy(u, d_u, bytes, cudaMemcpyDeviceToHost), "copy to host");

    /* maximum principle: no new extremes can appear */
    int bad = 0;
    double sum = 0.0;
    for (size_t k = 0; k < (size_t)n * n; k++) {
        if (!(u[k] > 4.999 && u[k] < 65.001)) bad++;
        sum += u[k];
    }
    printf("grid %d x %d, %d steps, mean temperature %.6f: %s\n", n, n, steps,
           sum / ((double)n * n), bad == 0 ? "PASS" : "FAIL");

    cudaFree(d_u);
    cudaFree(d_u_new);
    free(u);
    return bad == 0 ? 0 : 1;
}
