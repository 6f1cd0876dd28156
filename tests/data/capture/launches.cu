// What a launch costs the host, in microseconds: the least of some rounds.
//
// `launches ROUNDS LAUNCHES`
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

__global__ void other(float *x, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] += 1.0f;
}

__global__ void chosen(float *x, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] *= 2.0f;
}

template <typename Launch>
static double least(int rounds, int launches, Launch launch)
{
    double best = 1e30;
    for (int r = 0; r < rounds; r++) {
        cudaDeviceSynchronize();
        auto begun = std::chrono::steady_clock::now();
        for (int i = 0; i < launches; i++) launch();
        std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
        if (took.count() / launches < best) best = took.count() / launches;
    }
    cudaDeviceSynchronize();
    return best;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 50, launches = argc > 2 ? atoi(argv[2]) : 500;
    float *x;
    if (cudaMalloc(&x, 1024) != cudaSuccess) return 1;
    cudaMemset(x, 0, 1024);
    for (int i = 0; i < 8; i++) chosen<<<1, 32>>>(x, 32);
    printf("other %.3f us a launch\n", least(rounds, launches, [&] { other<<<1, 32>>>(x, 32); }));
    printf("chosen %.3f us a launch\n", least(rounds, launches, [&] { chosen<<<1, 32>>>(x, 32); }));
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
