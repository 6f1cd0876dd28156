// Estimates pi by throwing random points into the unit square: every thread throws `throws`
// points with its own random generator and counts the ones inside the quarter circle.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define RAND_MODULUS 2147483647ULL /* 2^31 - 1, Park and Miller's "minimal standard" */
#define RAND_MULTIPLIER 48271ULL

__device__ double next_random(uint64_t *state)
{
    *state = (*state * RAND_MULTIPLIER) % RAND_MODULUS;
    return (double)*state / (double)RAND_MODULUS;
}

__global__ void count_hits(uint64_t *states, unsigned int *hits, int num_threads, int throws)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= num_threads) return;

    hits[tid] = 0;
    for (int i = 0; i < throws; i++) {
        double x = next_random(&states[tid]);
        double y = next_random(&states[tid]);
        if (sqrt(x * x + y * y) <= 1.0) {
            hits[tid]++;
        }
    }
}

#define CUDA_OK(expr)                                                              \
    if ((expr) != cudaSuccess) {                                                   \
        std::fprintf(stderr, "failed at %s:%d: %s\n", __FILE__, __LINE__, #expr);  \
        return EXIT_FAILURE;                                                       \
    }

int main(int argc, char** argv)
{
    int num_threads = argc > 1 ? std::atoi(argv[1]) : 65536;
    int throws = argc > 2 ? std::atoi(argv[2]) : 1000;

    std::vector<uint64_t> states(num_threads);
    uint64_t seed = 12345;
    for (auto& s : states) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        s = (seed >> 33) % (RAND_MODULUS - 1) + 1;
    }

    uint64_t* d_states;
    unsigned int* d_hits;
    CUDA_OK(cudaMalloc(&d_states, num_threads * sizeof(uint64_t)));
    CUDA_OK(cudaMalloc(&d_hits, num_threads * sizeof(unsigned int)));
    CUDA_OK(cudaMemcpy(d_states, states.data(), num_threads * sizeof(uint64_t),
                       cudaMemcpyHostToDevice));

    const int block = 64;
    count_hits<<<(num_threads + block - 1) / block, block>>>(d_states, d_hits, num_threads, throws);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());

    std::vector<unsigned int> hits(num_threads);
    CUDA_OK(cudaMemcpy(hits.data(), d_hits, num_threads * sizeof(unsigned int),
                       cudaMemcpyDeviceToHost));

    double inside = 0.0;
    for (unsigned int h : hits) inside += h;
    double total = (double)num_threads * throws;
    double pi = 4.0 * inside / total;
    bool ok = std::fabs(pi - 3.14159265358979) < 10.0 / std::sqrt(total);
    std::printf("pi is about %.5f (%.0f points) %s\n", pi, total, ok ? "PASS" : "FAIL");

    cudaFree(d_states);
    cudaFree(d_hits);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
