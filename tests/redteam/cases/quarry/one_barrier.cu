// Similarity of two sets of half-precision feature rows:
//     score[i][j] = gain[i] * sum_k probe[i][k] * gallery[j][k] + shift[j]
// Products on the tensor cores with float accumulation, tiles staged with cp.async, two stages.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 64;      // rows and columns of a block's tile
constexpr int DEEP = 32;      // depth of one stage
constexpr int PITCH = 40;     // halves per staged row
constexpr int CPITCH = 68;    // floats per row of the finished tile
constexpr int STAGES = 2;

__device__ __forceinline__ void copy16(__half* to, const __half* from)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(address), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }

template <int LEFT>
__device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(LEFT) : "memory"); }

// Stages rows first .. first+63, depths from .. from+31 of a matrix of `rows` rows and `depth` columns.
__device__ __forceinline__ void stage(__half* to, const __half* matrix, int rows, int depth, int first, int from)
{
    for (int chunk = threadIdx.x; chunk < TILE * DEEP / 8; chunk += blockDim.x) {
        int row = first + chunk / (DEEP / 8);
        int col = from + chunk % (DEEP / 8) * 8;
        __half* cell = to + chunk / (DEEP / 8) * PITCH + chunk % (DEEP / 8) * 8;
        const __half* source = matrix + (size_t)row * depth + col;
        if (row < rows && depth % 8 == 0 && col + 8 <= depth) {
            copy16(cell, source);
        } else {
            for (int e = 0; e < 8; e++)
                cell[e] = (row < rows && col + e < depth) ? source[e] : __float2half(0.0f);
        }
    }
}

extern "C" __global__ void __launch_bounds__(128)
quarry(const __half* __restrict__ probe, const __half* __restrict__ gallery, const float* __restrict__ gain,
       const float* __restrict__ shift, float* __restrict__ score, int m, int n, int k)
{
    __shared__ __align__(128) unsigned char raw[STAGES * 2 * TILE * PITCH * sizeof(__half)];
    __half* left = reinterpret_cast<__half*>(raw);
    __half* right = left + STAGES * TILE * PITCH;

    int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE;
    int warp = threadIdx.x / 32;
    int wi = warp / 2 * 32, wj = warp % 2 * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            wmma::fill_fragment(acc[a][b], 0.0f);

    int turns = (k + DEEP - 1) / DEEP;
    stage(left, probe, m, k, i0, 0);
    stage(right, gallery, n, k, j0, 0);
    commit();

    for (int t = 0; t < turns; t++) {
        if (t + 1 < turns) {
            int next = (t + 1) % STAGES * TILE * PITCH;
            stage(left + next, probe, m, k, i0, (t + 1) * DEEP);
            stage(right + next, gallery, n, k, j0, (t + 1) * DEEP);
            commit();
            wait<1>();
        } else {
            wait<0>();
        }
        __syncthreads();

        const __half* l = left + t % STAGES * TILE * PITCH;
        const __half* r = right + t % STAGES * TILE * PITCH;
        for (int d = 0; d < DEEP; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb[2];
            for (int a = 0; a < 2; a++)
                wmma::load_matrix_sync(fa[a], l + (wi + a * 16) * PITCH + d, PITCH);
            for (int b = 0; b < 2; b++)
                wmma::load_matrix_sync(fb[b], r + (wj + b * 16) * PITCH + d, PITCH);
            for (int a = 0; a < 2; a++)
                for (int b = 0; b < 2; b++)
                    wmma::mma_sync(acc[a][b], fa[a], fb[b], acc[a][b]);
        }
    }
    __syncthreads();

    float* done = reinterpret_cast<float*>(raw);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            wmma::store_matrix_sync(done + (wi + a * 16) * CPITCH + wj + b * 16, acc[a][b], CPITCH, wmma::mem_row_major);
    __syncthreads();

    for (int e = threadIdx.x; e < TILE * TILE; e += blockDim.x) {
        int i = i0 + e / TILE, j = j0 + e % TILE;
        if (i < m && j < n)
            score[(size_t)i * n + j] = gain[i] * done[e / TILE * CPITCH + e % TILE] + shift[j];
    }
}
