#include <cuda_fp16.h>
#include <cute/tensor.hpp>

// c[m][n] = a[m][k] * b[n][k]^T on tensor cores: a tile of 64 x 64 a block, 32 deep, four warps.
__global__ void gemm_tn(const half* a, const half* b, float* c, int m, int n, int k)
{
    using namespace cute;
    __shared__ half_t tile_a[64 * 40];
    __shared__ half_t tile_b[64 * 40];
    const half_t* from_a = reinterpret_cast<const half_t*>(a);
    const half_t* from_b = reinterpret_cast<const half_t*>(b);
    const int row = blockIdx.y * 64;
    const int col = blockIdx.x * 64;

    // Rows of 40 halves: eight more than the tile, so that a column touches every bank.
    auto layout = make_layout(make_shape(Int<64>{}, Int<32>{}), make_stride(Int<40>{}, Int<1>{}));
    Tensor shared_a = make_tensor(make_smem_ptr(tile_a), layout);
    Tensor shared_b = make_tensor(make_smem_ptr(tile_b), layout);

    auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{});
    auto mine = mma.get_slice(threadIdx.x);
    Tensor part_a = mine.partition_A(shared_a);
    Tensor part_b = mine.partition_B(shared_b);
    Tensor frag_a = mine.make_fragment_A(part_a);
    Tensor frag_b = mine.make_fragment_B(part_b);
    Tensor sum = partition_fragment_C(mma, Shape<_64, _64>{});
    clear(sum);

    for (int depth = 0; depth < k; depth += 32) {
        for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) {
            const int r = i / 32, d = i % 32;
            const bool deep = depth + d < k;
            shared_a(r, d) = deep && row + r < m ? from_a[(row + r) * k + depth + d] : half_t(0.f);
            shared_b(r, d) = deep && col + r < n ? from_b[(col + r) * k + depth + d] : half_t(0.f);
        }
        __syncthreads();
        copy(part_a, frag_a);
        copy(part_b, frag_b);
        gemm(mma, frag_a, frag_b, sum);
        __syncthreads();
    }

    Tensor place = mine.partition_C(make_identity_tensor(Shape<_64, _64>{}));
    for (int i = 0; i < size(sum); ++i) {
        const int r = row + get<0>(place(i)), s = col + get<1>(place(i));
        if (r < m && s < n) c[r * n + s] = sum(i);
    }
}
