#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// How many clauses of three literals a choice of truth values, a bit for each variable, satisfies. A literal is twice its
// variable, and one more where it is negated.
__device__ int satisfied(const int* literal, int clauses, unsigned choice) {
    int many = 0;
    for (int c = 0; c < clauses; ++c) {
        bool any = false;
        for (int k = 0; k < 3; ++k) any |= (choice >> literal[3 * c + k] / 2 & 1) != (literal[3 * c + k] & 1);
        many += any;
    }
    return many;
}

// A block keeps what its threads find to itself until its end. The literals are read from shared memory by 1024 clauses.
constexpr int kClauses = 1024;

template <typename Use>
__device__ void each(const int* literal, int clauses, unsigned choices, Use use) {
    __shared__ int near[3 * kClauses];
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned from = blockIdx.x * blockDim.x; from < choices; from += stride) {
        unsigned x = from + threadIdx.x;
        int many = 0;
        for (int first = 0; first < clauses; first += kClauses) {
            int here = min(kClauses, clauses - first);
            if (clauses > kClauses || from == blockIdx.x * blockDim.x) {
                __syncthreads();
                for (int k = threadIdx.x; k < 3 * here; k += blockDim.x) near[k] = literal[3 * first + k];
                __syncthreads();
            }
            for (int c = 0; c < here; ++c) {
                unsigned any = 0;
                for (int k = 0; k < 3; ++k) any |= (x >> near[3 * c + k] / 2 ^ near[3 * c + k]) & 1;
                many += any;
            }
        }
        if (x < choices) use(x, many);
    }
}

__global__ void most(const int* literal, int clauses, unsigned choices, int* found) {
    __shared__ int best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    int mine = 0;
    each(literal, clauses, choices, [&](unsigned, int many) { mine = max(mine, many); });
    atomicMax(&best, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&found[0], best);
}

// How many choices satisfy as many, and what is left of all choices behind the first of them.
__global__ void choose(const int* literal, int clauses, unsigned choices, int* found) {
    int wanted = found[0], times = 0, behind = 0;
    each(literal, clauses, choices, [&](unsigned x, int many) {
        if (many != wanted) return;
        ++times;
        behind = max(behind, (int)(choices - x));
    });
    if (times) atomicAdd(&found[1], times), atomicMax(&found[2], behind);
}

// The most clauses of a drawn formula that can hold at once, `maxsat VARIABLES CLAUSES [FORMULAS]`, by trying all.
int main(int argc, char** argv) {
    int variables = argc > 1 ? atoi(argv[1]) : 20, clauses = argc > 2 ? atoi(argv[2]) : 90;
    int formulas = argc > 3 ? atoi(argv[3]) : 1;
    if (variables < 3 || variables > 28 || clauses < 1 || clauses > 4000 || formulas < 1) return 1;
    unsigned choices = 1u << variables, seed = 12345;
    std::vector<int> drawn(3 * clauses);
    for (int f = 0; f < formulas; ++f) {
        for (int& literal : drawn) {
            seed = seed * 1664525u + 1013904223u;
            literal = (seed >> 9) % (2 * variables);
        }
        int *literal, *found, result[3];
        cudaMalloc(&literal, drawn.size() * sizeof(int));
        cudaMalloc(&found, sizeof result);
        cudaMemcpy(literal, drawn.data(), drawn.size() * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemset(found, 0, sizeof result);
        most<<<1024, 256>>>(literal, clauses, choices, found);
        choose<<<1024, 256>>>(literal, clauses, choices, found);
        cudaMemcpy(result, found, sizeof result, cudaMemcpyDeviceToHost);
        printf("%d: %d of %d, %d times, first %u\n", f, result[0], clauses, result[1], choices - result[2]);
        cudaFree(literal);
        cudaFree(found);
    }
    return 0;
}
