// The groups that are made of a block, of warps and of the whole grid, on the barriers of `device.h`.
#pragma once

namespace cooperative_groups {

inline unsigned emu_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned emu_threads() { return blockDim.x * blockDim.y * blockDim.z; }

struct thread_block {
    void sync() const { __syncthreads(); }
    unsigned thread_rank() const { return emu_rank(); }
    unsigned size() const { return emu_threads(); }
    unsigned num_threads() const { return emu_threads(); }
    dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    dim3 group_dim() const { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

struct grid_group {
    void sync() const { emu_grid_barrier(); }
    bool is_valid() const { return true; }
    unsigned long long thread_rank() const { return block_rank() * emu_threads() + emu_rank(); }
    unsigned long long size() const { return num_blocks() * emu_threads(); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    unsigned long long block_rank() const {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    dim3 group_dim() const { return gridDim; }
};
inline grid_group this_grid() { return {}; }

// Threads of one warp: those of a mask, numbered by their place in it.
struct emu_lanes {
    unsigned mask;
    unsigned thread_rank() const { return __builtin_popcount(mask & ((1u << emu_lane()) - 1)); }
    unsigned size() const { return __builtin_popcount(mask); }
    unsigned num_threads() const { return size(); }
    void sync() const { __syncwarp(mask); }
    unsigned lane_of(unsigned rank) const {
        unsigned rest = mask;
        while (rank-- && rest) rest &= rest - 1;
        return rest ? __builtin_ctz(rest) : emu_lane();
    }
    unsigned packed(unsigned lanes) const {
        unsigned out = 0, at = 0;
        for (unsigned rest = mask; rest; rest &= rest - 1, ++at)
            if (lanes >> __builtin_ctz(rest) & 1) out |= 1u << at;
        return out;
    }
    template <class T> T shfl(T v, int rank) const { return __shfl_sync(mask, v, lane_of((unsigned)rank % size())); }
    template <class T> T shfl_up(T v, unsigned by) const {
        unsigned rank = thread_rank();
        return __shfl_sync(mask, v, lane_of(rank < by ? rank : rank - by));
    }
    template <class T> T shfl_down(T v, unsigned by) const {
        unsigned rank = thread_rank();
        return __shfl_sync(mask, v, lane_of(rank + by >= size() ? rank : rank + by));
    }
    template <class T> T shfl_xor(T v, unsigned lanes) const {
        unsigned other = thread_rank() ^ lanes;
        return __shfl_sync(mask, v, lane_of(other < size() ? other : thread_rank()));
    }
    int any(int p) const { return __any_sync(mask, p); }
    int all(int p) const { return __all_sync(mask, p); }
    unsigned ballot(int p) const { return packed(__ballot_sync(mask, p)); }
    template <class T> unsigned match_any(T v) const { return packed(__match_any_sync(mask, v)); }
    template <class T> unsigned match_all(T v, int& all) const { return packed(__match_all_sync(mask, v, &all)); }
};

struct coalesced_group : emu_lanes {};
inline __attribute__((always_inline)) coalesced_group coalesced_threads() {
    return {{emu_converged(__builtin_return_address(0))}};
}

template <unsigned N, class Parent = void> struct thread_block_tile : emu_lanes {
    static_assert(N <= 32, "cannot be emulated: tiles of several warps");
    unsigned meta_group_rank() const { return emu_rank() / N; }
    unsigned meta_group_size() const { return (emu_threads() + N - 1) / N; }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
};
template <unsigned N, class P> thread_block_tile<N, P> tiled_partition(const P&) {
    unsigned ones = N == 32 ? ~0u : (1u << (N & 31)) - 1;
    thread_block_tile<N, P> tile;
    tile.mask = ones << (emu_lane() / N * N);
    return tile;
}
inline coalesced_group tiled_partition(const thread_block&, unsigned n) {
    unsigned ones = n >= 32 ? ~0u : (1u << n) - 1;
    return {{ones << (emu_lane() / n * n)}};
}
template <class G> coalesced_group labeled_partition(const G& g, int label) {
    return {{__match_any_sync(g.mask, label)}};
}
template <class G> coalesced_group binary_partition(const G& g, bool label) {
    unsigned set = __ballot_sync(g.mask, label);
    return {{label ? set : g.mask & ~set}};
}
template <class G> void sync(const G& g) { g.sync(); }
inline void sync() { __syncthreads(); }

template <class T = void> struct plus { T operator()(T a, T b) const { return a + b; } };
template <> struct plus<void> { template <class T> T operator()(T a, T b) const { return a + b; } };
template <class T = void> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T = void> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T = void> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T = void> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T = void> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <class G, class T, class F> T reduce(const G& g, T v, F join) {
    T all = g.shfl(v, 0);
    for (unsigned rank = 1; rank < g.size(); ++rank) all = join(all, g.shfl(v, rank));
    return all;
}
template <class G, class T, class F> T inclusive_scan(const G& g, T v, F join) {
    T all = g.shfl(v, 0);
    for (unsigned rank = 1; rank < g.size(); ++rank) {
        T next = g.shfl(v, rank);
        if (rank <= g.thread_rank()) all = join(all, next);
    }
    return all;
}
template <class G, class T> T inclusive_scan(const G& g, T v) { return inclusive_scan(g, v, plus<T>()); }

}  // namespace cooperative_groups
