#include <cuda_fp16.h>
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>

using namespace cute;

// c[m][n] = a[m][k] * b[n][k]^T by warpgroup MMAs: a tile of 64 x 64 a block, 64 deep, operands
// read from swizzled shared memory.
__global__ void gemm_tn(const half* a, const half* b, float* c, int m, int n, int k)
{
    __shared__ __align__(1024) half_t tile_a[64 * 64];
    __shared__ __align__(1024) half_t tile_b[64 * 64];
    const half_t* from_a = reinterpret_cast<const half_t*>(a);
    const half_t* from_b = reinterpret_cast<const half_t*>(b);
    const int row = blockIdx.y * 64;
    const int col = blockIdx.x * 64;

    auto layout = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{});
    Tensor shared_a = make_tensor(make_smem_ptr(tile_a), layout);
    Tensor shared_b = make_tensor(make_smem_ptr(tile_b), layout);

    auto mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{});
    auto mine = mma.get_slice(threadIdx.x);
    Tensor frag_a = mine.make_fragment_A(mine.partition_A(shared_a));
    Tensor frag_b = mine.make_fragment_B(mine.partition_B(shared_b));
    Tensor sum = partition_fragment_C(mma, Shape<_64, _64>{});
    clear(sum);

    for (int depth = 0; depth < k; depth += 64) {
        for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
            const int r = i / 64, d = i % 64;
            const bool deep = depth + d < k;
            shared_a(r, d) = deep && row + r < m ? from_a[(row + r) * k + depth + d] : half_t(0.f);
            shared_b(r, d) = deep && col + r < n ? from_b[(col + r) * k + depth + d] : half_t(0.f);
        }
        cutlass::arch::fence_view_async_shared();
        __syncthreads();
        warpgroup_fence_operand(sum);
        warpgroup_arrive();
        gemm(mma, frag_a, frag_b, sum);
        warpgroup_commit_batch();
        warpgroup_wait<0>();
        warpgroup_fence_operand(sum);
        __syncthreads();
    }

    Tensor place = mine.partition_C(make_identity_tensor(Shape<_64, _64>{}));
    for (int i = 0; i < size(sum); ++i) {
        const int r = row + get<0>(place(i)), s = col + get<1>(place(i));
        if (r < m && s < n) c[r * n + s] = sum(i);
    }
}
