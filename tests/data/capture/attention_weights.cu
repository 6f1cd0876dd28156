// Scores of an attention layer to weights: softmax along each row, for whatever number type.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t error = (call);                                            \
        if (error != cudaSuccess) {                                            \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));     \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

namespace attention {

template <typename T, bool kScaled>
__global__ void weights(const T *scores, T *out, int rows, int cols, T scale)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    const T *in = scores + row * cols;
    T *to = out + row * cols;
    T largest = in[0];
    for (int i = 1; i < cols; i++) {
        largest = in[i] > largest ? in[i] : largest;
    }
    T sum = 0;
    for (int i = 0; i < cols; i++) {
        T shifted = in[i] - largest;
        to[i] = exp(kScaled ? shifted * scale : shifted);
        sum += to[i];
    }
    for (int i = 0; i < cols; i++) {
        to[i] /= sum;
    }
}

}  // namespace attention

template <typename T>
static double run(int rows, int cols, int rounds)
{
    std::vector<T> host((size_t)rows * cols);
    unsigned seed = 7;
    for (T &v : host) {
        seed = seed * 1664525u + 1013904223u;
        v = (T)((int)(seed >> 8) - (1 << 23)) / (T)(1 << 21);
    }
    T *scores, *out;
    CHECK(cudaMalloc(&scores, host.size() * sizeof(T)));
    CHECK(cudaMalloc(&out, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(scores, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    for (int i = 0; i < rounds; i++) {
        attention::weights<T, true><<<(rows + 127) / 128, 128>>>(scores, out, rows, cols, T(0.125));
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(host.data(), out, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(scores));
    CHECK(cudaFree(out));
    double sum = 0;
    for (int i = 0; i < cols; i++) sum += (double)host[i];
    return sum;
}

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 8192, cols = argc > 2 ? atoi(argv[2]) : 512;
    const double sums[] = {run<float>(rows, cols, 5), run<double>(rows / 8, cols, 1),
                           run<float>(rows / 4, cols, 2)};
    bool fine = true;
    for (double sum : sums) fine = fine && sum > 0.999 && sum < 1.001;
    printf("first rows sum to %.6f %.6f %.6f\n", sums[0], sums[1], sums[2]);
    return fine ? 0 : 1;
}
