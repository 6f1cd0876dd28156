// The host's part of comparing: errors against a line below their budget, in one pass over memory.
//
// Of each block of results the largest quotient of error and line, and of error and size, are
// written as they stand in memory: quotients are never negative, so that their bits are in the order
// of the numbers, and infinities and NaN are above all of them.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if !defined(__GNUC__) || defined(__clang__)
#define WIDE
#elif defined(__x86_64__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define WIDE __attribute__((optimize("O3")))
#endif
#define OUT extern "C" __attribute__((visibility("default")))
#define ALWAYS inline __attribute__((always_inline))

namespace {

constexpr std::size_t kBlock = 4096;

// What is known of a budget: `noise` by the exponent as it stands in a number's bits, and what
// `compare.Budget` says of the others.
template <typename Number>
struct Terms {
    const Number* noise;
    Number slope, few, share, rtol, atol, ground, least, scale;
};

template <typename Number>
struct Kind;
template <>
struct Kind<float> {
    using Bits = std::uint32_t;
    static constexpr int kMantissa = 23;
};
template <>
struct Kind<double> {
    using Bits = std::uint64_t;
    static constexpr int kMantissa = 52;
};

template <typename Number>
ALWAYS typename Kind<Number>::Bits bits_of(Number x) {
    typename Kind<Number>::Bits bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

template <typename Number>
ALWAYS Number size_of(Number x) {
    using Bits = typename Kind<Number>::Bits;
    const Bits bits = bits_of(x) & (~Bits{0} >> 1);
    Number size;
    std::memcpy(&size, &bits, sizeof size);
    return size;
}

// `size` is not negative: its bits are exponent and mantissa.
template <typename Number>
ALWAYS Number line(const Terms<Number>& t, Number size) {
    const Number noise = t.noise[bits_of(size) >> Kind<Number>::kMantissa];
    const Number earned = noise + size * t.slope + t.few;
    const Number declared = size * t.rtol + t.atol, condition = noise * t.share;
    const Number allowed = declared > condition ? declared : condition;
    const Number lower = earned < allowed ? earned : allowed;
    const Number ground = lower > t.ground ? lower : t.ground;
    return ground > t.least ? ground : t.least;
}

template <typename Number>
ALWAYS void scan(const Number* got, const Number* want, const std::uint8_t* kept,
                 std::size_t count, const Terms<Number>& t, typename Kind<Number>::Bits* far,
                 typename Kind<Number>::Bits* share) {
    using Bits = typename Kind<Number>::Bits;
    for (std::size_t start = 0; start < count; start += kBlock) {
        const std::size_t rest = count - start, length = rest < kBlock ? rest : kBlock;
        const Number *mine = got + start, *goal = want + start;
        Bits most = 0, largest = 0;
        for (std::size_t i = 0; i < length; ++i) {
            const Number gap = size_of(mine[i] - goal[i]);
            const Number size = size_of(goal[i]);
            const Bits mask = kept != nullptr ? Bits{0} - Bits{kept[start + i]} : ~Bits{0};
            const Bits q = bits_of(gap / line(t, size)) & mask;
            const Bits s = bits_of(gap / (size + t.scale)) & mask;
            most = q > most ? q : most;
            largest = s > largest ? s : largest;
        }
        far[start / kBlock] = most;
        share[start / kBlock] = largest;
    }
}

template <typename Number>
std::size_t pick(const Number* got, const Number* want, const std::uint8_t* kept,
                 std::size_t count, const Terms<Number>& t, bool shares,
                 typename Kind<Number>::Bits least, const typename Kind<Number>::Bits* blocks,
                 std::int64_t* at, std::size_t room) {
    std::size_t found = 0;
    for (std::size_t start = 0; start < count; start += kBlock) {
        if (blocks[start / kBlock] < least) continue;
        const std::size_t end = count - start < kBlock ? count : start + kBlock;
        for (std::size_t i = start; i < end; ++i) {
            const Number gap = size_of(got[i] - want[i]);
            const Number size = size_of(want[i]);
            if (bits_of(gap / (shares ? size + t.scale : line(t, size))) < least) continue;
            if (kept != nullptr && !kept[i]) continue;
            if (found < room) at[found] = static_cast<std::int64_t>(i);
            ++found;
        }
    }
    return found;
}

}  // namespace

// Elements of a block.
OUT std::size_t near_block() { return kBlock; }

// `far` and `share` have room for a word of each block; `kept` holds ones and zeros, or is null.
OUT WIDE void near_scan_float(const float* got, const float* want, const std::uint8_t* kept,
                              std::size_t count, const Terms<float>* terms, std::uint32_t* far,
                              std::uint32_t* share) {
    const Terms<float> t = *terms;
    kept != nullptr ? scan(got, want, kept, count, t, far, share)
                    : scan(got, want, nullptr, count, t, far, share);
}

OUT WIDE void near_scan_double(const double* got, const double* want, const std::uint8_t* kept,
                               std::size_t count, const Terms<double>* terms, std::uint64_t* far,
                               std::uint64_t* share) {
    const Terms<double> t = *terms;
    kept != nullptr ? scan(got, want, kept, count, t, far, share)
                    : scan(got, want, nullptr, count, t, far, share);
}

// Write where quotients (with the line, or with the size) are no less than `least`, as many as there
// is room for; return how many there are. `blocks` are what the scan found of these quotients.
OUT std::size_t near_pick_float(const float* got, const float* want, const std::uint8_t* kept,
                                std::size_t count, const Terms<float>* terms, int shares,
                                std::uint32_t least, const std::uint32_t* blocks, std::int64_t* at,
                                std::size_t room) {
    return pick(got, want, kept, count, *terms, shares != 0, least, blocks, at, room);
}

OUT std::size_t near_pick_double(const double* got, const double* want, const std::uint8_t* kept,
                                 std::size_t count, const Terms<double>* terms, int shares,
                                 std::uint64_t least, const std::uint64_t* blocks,
                                 std::int64_t* at, std::size_t room) {
    return pick(got, want, kept, count, *terms, shares != 0, least, blocks, at, room);
}
