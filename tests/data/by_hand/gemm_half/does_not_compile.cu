#include <cuda_fp16.h>
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>

// c[m][n] = a[m][k] * b[n][k]^T by warpgroup MMAs: a tile of 128 x 64 a block of 256 threads, 64
// deep; the next tile is copied while one is multiplied.
__global__ void gemm_tn(const half* a, const half* b, float* c, int m, int n, int k)
{
    using namespace cute;
    __shared__ __align__(1024) half_t tile_a[2 * 128 * 64];
    __shared__ __align__(1024) half_t tile_b[2 * 64 * 64];
    const half_t* from_a = reinterpret_cast<const half_t*>(a);
    const half_t* from_b = reinterpret_cast<const half_t*>(b);
    const int row = blockIdx.y * 128;
    const int col = blockIdx.x * 64;
    // Chunks of 16 bytes are aligned where rows are.
    const bool aligned = k % 8 == 0 && (size_t(a) | size_t(b)) % 16 == 0;

    auto atom = GMMA::Layout_K_SW128_Atom<half_t>{};
    Tensor shared_a = make_tensor(make_smem_ptr(tile_a), tile_to_shape(atom, Shape<_128, _64, _2>{}));
    Tensor shared_b = make_tensor(make_smem_ptr(tile_b), tile_to_shape(atom, Shape<_64, _64, _2>{}));

    auto mma = make_tiled_mma(SM90_64x64x16_F32F16F16<GMMA::Major::K, GMMA::Major::K>{},
                              Layout<Shape<_2, _1, _1>>{});
    auto mine = mma.get_slice(threadIdx.x);
    Tensor frag_a = mine.make_fragment_A(mine.partition_A(shared_a));
    Tensor frag_b = mine.make_fragment_B(mine.partition_B(shared_b));
    Tensor sum = partition_fragment_C(mma, Shape<_128, _64>{});
    clear(sum);

    auto stage = [&](auto& tile, const half_t* from, int rows, int first, int last, int depth, int at) {
        for (int i = threadIdx.x; i < rows * 8; i += blockDim.x) {
            const int r = i / 8, d = i % 8 * 8;
            const bool there = first + r < last;
            if (aligned) {
                const bool inside = there && depth + d < k;
                const half_t* source = inside ? from + (first + r) * k + depth + d : from;
                SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>::copy(
                    *reinterpret_cast<const uint128_t*>(source),
                    *reinterpret_cast<uint128_t*>(&tile(r, d, at)), inside);
            } else {
                for (int j = 0; j < 8; j++) {
                    const bool inside = there && depth + d + j < k;
                    tile(r, d + j, at) = inside ? from[(first + r) * k + depth + d + j] : half_t(0.f);
                }
            }
        }
    };

    stage(shared_a, from_a, 128, row, m, 0, 0);
    stage(shared_b, from_b, 64, col, n, 0, 0);
    cp_async_fence();
    for (int depth = 0, at = 0; depth < k; depth += 64, at ^= 1) {
        cp_async_wait<0>();
        cutlass::arch::fence_view_async_shared();
        __syncthreads();
        warpgroup_fence_operand(sum);
        warpgroup_arrive();
        gemm(mma, frag_a(_, _, _, at), frag_b(_, _, _, at), sum);
        warpgroup_commit_batch();
        if (depth + 64 < k) {
            stage(shared_a, from_a, 128, row, m, depth + 64, at ^ 1);
            stage(shared_b, from_b, 64, col, n, depth + 64, at ^ 1);
        }
        cp_async_fence();
        warpgroup_wait<0>();
        warpgroup_fence_operand(sum);
        __syncthreads();
    }

    Tensor place = mine.partition_C(make_identity_tensor(Shape<_128, _64>{}));
    for (int i = 0; i < size(sum); ++i) {
        const int r = row + get<0>(place(i)), s = col + get<1>(place(i));
        if (r < m && s < n) c[r * n + s] = sum(i);
    }
}
