// Similarity of two sets of half-precision feature rows:
//     score[i][j] = gain[i] * sum_k probe[i][k] * gallery[j][k] + shift[j]
// Products on the tensor cores with float accumulation, tiles staged with cp.async, two stages.
#include <cuda_fp16.h>

constexpr int TILE = 64;      // rows and columns of a block's tile
constexpr int DEEP = 32;      // depth of one stage
constexpr int PITCH = 40;     // halves per staged row
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

    float acc[2][4][4];
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++)
                acc[a][b][c] = 0.0f;
    int group = threadIdx.x % 32 / 4, pair = threadIdx.x % 4 * 2;

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
            unsigned fa[2][4], fb[4][2];
            for (int a = 0; a < 2; a++) {
                const __half* corner = l + (wi + a * 16 + group) * PITCH + d + pair;
                fa[a][0] = *reinterpret_cast<const unsigned*>(corner);
                fa[a][1] = *reinterpret_cast<const unsigned*>(corner + 8 * PITCH);
                fa[a][2] = *reinterpret_cast<const unsigned*>(corner + 8);
                fa[a][3] = *reinterpret_cast<const unsigned*>(corner + 8 * PITCH + 8);
            }
            for (int b = 0; b < 4; b++) {
                const __half* corner = r + (wj + b * 8 + group) * PITCH + d + pair;
                fb[b][0] = *reinterpret_cast<const unsigned*>(corner);
                fb[b][1] = *reinterpret_cast<const unsigned*>(corner + 8);
            }
            for (int a = 0; a < 2; a++)
                for (int b = 0; b < 4; b++)
                    asm volatile(
                        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                        : "+f"(acc[a][b][0]), "+f"(acc[a][b][1]), "+f"(acc[a][b][2]), "+f"(acc[a][b][3])
                        : "r"(fa[a][0]), "r"(fa[a][1]), "r"(fa[a][2]), "r"(fa[a][3]), "r"(fb[b][0]), "r"(fb[b][1]));
        }
        __syncthreads();
    }

    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++) {
                int i = i0 + wi + a * 16 + group + c / 2 * 8;
                int j = j0 + wj + b * 8 + pair + c % 2;
                if (i < m && j < n)
                    score[(size_t)i * n + j] = gain[i] * acc[a][b][c] + shift[j];
            }
}
