// CUDA's device language for g++, on the library of `runtime.h`. Types and half formats are those of
// CUDA's own headers. What has no counterpart here does not compile: inline PTX, tensor cores,
// clusters, bulk copies.
#pragma once
#include <cuda_runtime.h>
// Who does not include them may call a variable `half`.
#define CUDA_NO_HALF
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <math.h>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime.h"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __forceinline__
#undef __launch_bounds__
#undef __grid_constant__
#undef __noinline__
#undef __align__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One for a block, and the variables of a thread are all in one place, where they can be poisoned.
#define __shared__ static thread_local
#define __builtin_assume(x) ((void)0)
#define __CUDA_ARCH__ 900

typedef unsigned emu_u32;
typedef unsigned long long emu_u64;
#define EMU inline __attribute__((unused))

using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

constexpr int warpSize = 32;

// --- barriers and warps -----------------------------------------------------------------------

EMU void __syncthreads() { emu_barrier(0, 0); }
EMU int __syncthreads_count(int p) { return emu_barrier(0, p != 0); }
EMU int __syncthreads_and(int p) { return emu_barrier(1, p != 0); }
EMU int __syncthreads_or(int p) { return emu_barrier(2, p != 0); }
EMU void __syncwarp(unsigned mask = ~0u) { emu_warp(EMU_SYNC, mask, 0, 0, 32); }
EMU void __threadfence() {}
EMU void __threadfence_block() {}
EMU void __threadfence_system() {}
EMU void __nanosleep(unsigned) { emu_yield(); }
EMU void __trap() { emu_trap("an instruction that ends a launch"); }
EMU void __brkpt() {}
EMU unsigned __activemask() { return emu_converged(__builtin_return_address(0)); }

EMU unsigned emu_lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31;
}

template <class T> T emu_shuffle(emu_u32 kind, emu_u32 mask, T value, emu_u32 by, int width) {
    static_assert(sizeof(T) <= 8, "a shuffle moves eight bytes at most");
    emu_u64 bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = emu_warp(kind, mask, bits, by, width);
    T out;
    memcpy(&out, &bits, sizeof out);
    return out;
}
template <class T> T __shfl_sync(unsigned m, T v, int lane, int width = 32) {
    return emu_shuffle(EMU_SHFL, m, v, lane, width);
}
template <class T> T __shfl_up_sync(unsigned m, T v, unsigned d, int width = 32) {
    return emu_shuffle(EMU_UP, m, v, d, width);
}
template <class T> T __shfl_down_sync(unsigned m, T v, unsigned d, int width = 32) {
    return emu_shuffle(EMU_DOWN, m, v, d, width);
}
template <class T> T __shfl_xor_sync(unsigned m, T v, int lanes, int width = 32) {
    return emu_shuffle(EMU_XOR_LANE, m, v, lanes, width);
}
EMU unsigned __ballot_sync(unsigned m, int p) { return emu_warp(EMU_BALLOT, m, p != 0, 0, 32); }
EMU int __any_sync(unsigned m, int p) { return emu_warp(EMU_BALLOT, m, p != 0, 0, 32) != 0; }
EMU int __all_sync(unsigned m, int p) { return emu_warp(EMU_BALLOT, m, p == 0, 0, 32) == 0; }
template <class T> unsigned __match_any_sync(unsigned m, T v) {
    emu_u64 bits = 0;
    memcpy(&bits, &v, sizeof v);
    return emu_warp(EMU_MATCH_ANY, m, bits, 0, 32);
}
template <class T> unsigned __match_all_sync(unsigned m, T v, int* all) {
    emu_u64 bits = 0;
    memcpy(&bits, &v, sizeof v);
    unsigned found = emu_warp(EMU_MATCH_ALL, m, bits, 0, 32);
    *all = found != 0;
    return found;
}
EMU unsigned __reduce_add_sync(unsigned m, unsigned v) { return emu_warp(EMU_ADD, m, v, 0, 32); }
EMU unsigned __reduce_min_sync(unsigned m, unsigned v) { return emu_warp(EMU_MIN_U, m, v, 0, 32); }
EMU unsigned __reduce_max_sync(unsigned m, unsigned v) { return emu_warp(EMU_MAX_U, m, v, 0, 32); }
EMU int __reduce_add_sync(unsigned m, int v) { return emu_warp(EMU_ADD, m, (unsigned)v, 0, 32); }
EMU int __reduce_min_sync(unsigned m, int v) { return emu_warp(EMU_MIN_S, m, (unsigned)v, 0, 32); }
EMU int __reduce_max_sync(unsigned m, int v) { return emu_warp(EMU_MAX_S, m, (unsigned)v, 0, 32); }
EMU unsigned __reduce_and_sync(unsigned m, unsigned v) { return emu_warp(EMU_AND, m, v, 0, 32); }
EMU unsigned __reduce_or_sync(unsigned m, unsigned v) { return emu_warp(EMU_OR, m, v, 0, 32); }
EMU unsigned __reduce_xor_sync(unsigned m, unsigned v) { return emu_warp(EMU_XOR, m, v, 0, 32); }

// --- atomics ----------------------------------------------------------------------------------

// Whoever changes nothing again and again may wait for somebody.
EMU void emu_polled(bool changed) {
    static unsigned times;
    if (changed) times = 0;
    else if (++times >= 64) { times = 0; emu_yield(); }
}
template <class T, class F> T emu_atomic(T* p, F change) {
    if ((size_t)p % sizeof(T)) emu_trap("misaligned address");
    emu_inside = 1;
    T old = *(volatile T*)p, fresh = change(old);
    *(volatile T*)p = fresh;
    emu_inside = 0;
    emu_polled(memcmp(&old, &fresh, sizeof old) != 0);
    return old;
}
template <class T, class F> T emu_atomic_class(T* p, F change) {
    if ((size_t)p % sizeof(T)) emu_trap("misaligned address");
    emu_inside = 1;
    T old = *p, fresh = change(old);
    *p = fresh;
    emu_inside = 0;
    return old;
}
#define EMU_ATOMICS(S)                                                                              \
    template <class T, class U> T atomicAdd##S(T* p, U v) {                                         \
        if constexpr (std::is_class_v<T>) return emu_atomic_class(p, [&](T a) { return a + T(v); }); \
        else return emu_atomic(p, [&](T a) { return T(a + T(v)); });                                \
    }                                                                                               \
    template <class T, class U> T atomicSub##S(T* p, U v) {                                         \
        return emu_atomic(p, [&](T a) { return T(a - T(v)); });                                     \
    }                                                                                               \
    template <class T, class U> T atomicMin##S(T* p, U v) {                                         \
        return emu_atomic(p, [&](T a) { return T(v) < a ? T(v) : a; });                             \
    }                                                                                               \
    template <class T, class U> T atomicMax##S(T* p, U v) {                                         \
        return emu_atomic(p, [&](T a) { return T(v) > a ? T(v) : a; });                             \
    }                                                                                               \
    template <class T, class U> T atomicAnd##S(T* p, U v) {                                         \
        return emu_atomic(p, [&](T a) { return T(a & T(v)); });                                     \
    }                                                                                               \
    template <class T, class U> T atomicOr##S(T* p, U v) {                                          \
        return emu_atomic(p, [&](T a) { return T(a | T(v)); });                                     \
    }                                                                                               \
    template <class T, class U> T atomicXor##S(T* p, U v) {                                         \
        return emu_atomic(p, [&](T a) { return T(a ^ T(v)); });                                     \
    }                                                                                               \
    template <class T, class U> T atomicExch##S(T* p, U v) {                                        \
        return emu_atomic(p, [&](T) { return T(v); });                                              \
    }                                                                                               \
    template <class T, class U, class V> T atomicCAS##S(T* p, U c, V v) {                           \
        return emu_atomic(p, [&](T a) { return a == T(c) ? T(v) : a; });                            \
    }                                                                                               \
    EMU unsigned atomicInc##S(unsigned* p, unsigned v) {                                            \
        return emu_atomic(p, [&](unsigned a) { return a >= v ? 0 : a + 1; });                       \
    }                                                                                               \
    EMU unsigned atomicDec##S(unsigned* p, unsigned v) {                                            \
        return emu_atomic(p, [&](unsigned a) { return a == 0 || a > v ? v : a - 1; });              \
    }
EMU_ATOMICS()
EMU_ATOMICS(_block)
EMU_ATOMICS(_system)

// --- loads and stores that name a cache -------------------------------------------------------

#define EMU_LOAD(NAME) \
    template <class T> T NAME(const T* p) { return *p; }
EMU_LOAD(__ldg)
EMU_LOAD(__ldcs)
EMU_LOAD(__ldca)
EMU_LOAD(__ldlu)
// What comes from the second level may be what another block has just written: not kept.
template <class T> T __ldcg(const T* p) {
    asm volatile("" ::: "memory");
    return *p;
}
template <class T> T __ldcv(const T* p) {
    asm volatile("" ::: "memory");
    return *p;
}
#define EMU_STORE(NAME) \
    template <class T, class U> void NAME(T* p, U v) { *p = v; }
EMU_STORE(__stwb)
EMU_STORE(__stcg)
EMU_STORE(__stcs)
EMU_STORE(__stwt)
EMU void __prefetch_global_l1(const void*) {}
EMU void __prefetch_global_l2(const void*) {}
EMU size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
EMU long long clock64() { static long long at; return at += 7; }
EMU emu_u64 emu_timer() { static emu_u64 at; return at += 32; }
EMU unsigned __nv_isGlobal(const void*) { return 1; }

// --- bits ---------------------------------------------------------------------------------------

template <class To, class From> To emu_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
EMU int __float_as_int(float v) { return emu_bits<int>(v); }
EMU unsigned __float_as_uint(float v) { return emu_bits<unsigned>(v); }
EMU float __int_as_float(int v) { return emu_bits<float>(v); }
EMU float __uint_as_float(unsigned v) { return emu_bits<float>(v); }
EMU long long __double_as_longlong(double v) { return emu_bits<long long>(v); }
EMU double __longlong_as_double(long long v) { return emu_bits<double>(v); }
EMU int __double2hiint(double v) { return int(emu_bits<emu_u64>(v) >> 32); }
EMU int __double2loint(double v) { return int(emu_bits<emu_u64>(v)); }
EMU double __hiloint2double(int h, int l) { return emu_bits<double>((emu_u64)(unsigned)h << 32 | (unsigned)l); }
EMU int __popc(unsigned v) { return __builtin_popcount(v); }
EMU int __popcll(emu_u64 v) { return __builtin_popcountll(v); }
EMU int __clz(int v) { return v ? __builtin_clz(v) : 32; }
EMU int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
EMU int __ffs(int v) { return __builtin_ffs(v); }
EMU int __ffsll(long long v) { return __builtin_ffsll(v); }
EMU unsigned __brev(unsigned v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0F0F0F0Fu) | (v & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(v);
}
EMU emu_u64 __brevll(emu_u64 v) { return (emu_u64)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32)); }
EMU unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    emu_u64 all = (emu_u64)y << 32 | x;
    unsigned out = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned pick = s >> (4 * i) & 15, byte = all >> (8 * (pick & 7)) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        out |= byte << (8 * i);
    }
    return out;
}
EMU unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned by) {
    return unsigned(((emu_u64)hi << 32 | lo) << (by & 31) >> 32);
}
EMU unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned by) {
    return unsigned(((emu_u64)hi << 32 | lo) >> (by & 31));
}
EMU unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned by) {
    return by >= 32 ? lo : __funnelshift_l(lo, hi, by);
}
EMU unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned by) {
    return by >= 32 ? hi : __funnelshift_r(lo, hi, by);
}
EMU int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
EMU unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
EMU int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
EMU unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((emu_u64)a * b >> 32); }
EMU long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
EMU emu_u64 __umul64hi(emu_u64 a, emu_u64 b) { return (emu_u64)((unsigned __int128)a * b >> 64); }
EMU int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
EMU int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
EMU unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((emu_u64)a + b) >> 1); }
EMU unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((emu_u64)a + b + 1) >> 1); }
EMU unsigned __sad(int a, int b, unsigned c) { return c + (unsigned)std::llabs((long long)a - b); }
EMU unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
template <class T> int emu_dp4(int a, int b, int c) {
    for (int i = 0; i < 4; ++i) c += (int)(T)(a >> (8 * i)) * (int)(T)(b >> (8 * i));
    return c;
}
EMU int __dp4a(int a, int b, int c) { return emu_dp4<signed char>(a, b, c); }
EMU unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return emu_dp4<unsigned char>(a, b, c); }
EMU int __dp4a(char4 a, char4 b, int c) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c; }
EMU unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c; }
#define EMU_PARTS(NAME, TYPE, WIDTH, EXPRESSION)                                  \
    EMU unsigned NAME(unsigned x, unsigned y) {                                   \
        unsigned out = 0, low = (1u << WIDTH) - 1;                                \
        for (int i = 0; i < 32; i += WIDTH) {                                     \
            int a = (TYPE)(x >> i), b = (TYPE)(y >> i);                           \
            out |= ((unsigned)(EXPRESSION) & low) << i;                           \
        }                                                                         \
        return out;                                                               \
    }
#define EMU_SIMD(S, U, N, W)                                          \
    EMU_PARTS(__vadd##N, U, W, a + b)                                 \
    EMU_PARTS(__vsub##N, U, W, a - b)                                 \
    EMU_PARTS(__vminu##N, U, W, a < b ? a : b)                        \
    EMU_PARTS(__vmaxu##N, U, W, a > b ? a : b)                        \
    EMU_PARTS(__vmins##N, S, W, a < b ? a : b)                        \
    EMU_PARTS(__vmaxs##N, S, W, a > b ? a : b)                        \
    EMU_PARTS(__vabsdiffu##N, U, W, a > b ? a - b : b - a)            \
    EMU_PARTS(__vabsdiffs##N, S, W, a > b ? a - b : b - a)            \
    EMU_PARTS(__vavgu##N, U, W, (a + b + 1) >> 1)                     \
    EMU_PARTS(__vavgs##N, S, W, (a + b + 1) >> 1)                     \
    EMU_PARTS(__vhaddu##N, U, W, (a + b) >> 1)                        \
    EMU_PARTS(__vcmpeq##N, U, W, a == b ? -1 : 0)                     \
    EMU_PARTS(__vcmpne##N, U, W, a != b ? -1 : 0)                     \
    EMU_PARTS(__vcmpgtu##N, U, W, a > b ? -1 : 0)                     \
    EMU_PARTS(__vcmpgeu##N, U, W, a >= b ? -1 : 0)                    \
    EMU_PARTS(__vcmpltu##N, U, W, a < b ? -1 : 0)                     \
    EMU_PARTS(__vcmpleu##N, U, W, a <= b ? -1 : 0)                    \
    EMU_PARTS(__vcmpgts##N, S, W, a > b ? -1 : 0)                     \
    EMU_PARTS(__vcmplts##N, S, W, a < b ? -1 : 0)                     \
    EMU_PARTS(__vseteq##N, U, W, a == b)                              \
    EMU_PARTS(__vsetne##N, U, W, a != b)                              \
    EMU_PARTS(__vsetgtu##N, U, W, a > b)                              \
    EMU_PARTS(__vsetltu##N, U, W, a < b)                              \
    EMU_PARTS(__vsetgeu##N, U, W, a >= b)                             \
    EMU_PARTS(__vsetleu##N, U, W, a <= b)                             \
    EMU_PARTS(__vaddus##N, U, W, std::min(a + b, (1 << W) - 1))       \
    EMU_PARTS(__vsubus##N, U, W, std::max(a - b, 0))                  \
    EMU_PARTS(__vaddss##N, S, W, std::clamp(a + b, -(1 << (W - 1)), (1 << (W - 1)) - 1)) \
    EMU_PARTS(__vsubss##N, S, W, std::clamp(a - b, -(1 << (W - 1)), (1 << (W - 1)) - 1))
EMU_SIMD(signed char, unsigned char, 4, 8)
EMU_SIMD(short, unsigned short, 2, 16)
EMU unsigned emu_across(unsigned x, int width) {
    unsigned sum = 0;
    for (int i = 0; i < 32; i += width) sum += x >> i & ((1u << width) - 1);
    return sum;
}
EMU unsigned __vsadu4(unsigned x, unsigned y) { return emu_across(__vabsdiffu4(x, y), 8); }
EMU unsigned __vsadu2(unsigned x, unsigned y) { return emu_across(__vabsdiffu2(x, y), 16); }
EMU unsigned __vsads4(unsigned x, unsigned y) { return emu_across(__vabsdiffs4(x, y), 8); }
EMU unsigned __vneg4(unsigned x) { return __vsub4(0, x); }
EMU unsigned __vneg2(unsigned x) { return __vsub2(0, x); }
EMU unsigned __vabs4(unsigned x) { return __vmaxs4(x, __vneg4(x)); }
EMU unsigned __vabs2(unsigned x) { return __vmaxs2(x, __vneg2(x)); }

// --- smaller and larger of two, as CUDA overloads them -------------------------------------------

#define EMU_LESSER(T)                                \
    EMU T min(T a, T b) { return b < a ? b : a; }    \
    EMU T max(T a, T b) { return a < b ? b : a; }
EMU_LESSER(int)
EMU_LESSER(unsigned)
EMU_LESSER(long)
EMU_LESSER(unsigned long)
EMU_LESSER(long long)
EMU_LESSER(unsigned long long)
#undef EMU_LESSER
#define EMU_MIXED(A, B, R)                                              \
    EMU R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; }           \
    EMU R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }           \
    EMU R min(B a, A b) { return (R)b < (R)a ? (R)b : (R)a; }           \
    EMU R max(B a, A b) { return (R)a < (R)b ? (R)b : (R)a; }
EMU_MIXED(int, unsigned, unsigned)
EMU_MIXED(long, unsigned long, unsigned long)
EMU_MIXED(long long, unsigned long long, unsigned long long)
EMU float min(float a, float b) { return fminf(a, b); }
EMU float max(float a, float b) { return fmaxf(a, b); }
EMU double min(double a, double b) { return fmin(a, b); }
EMU double max(double a, double b) { return fmax(a, b); }
EMU double min(float a, double b) { return fmin(a, b); }
EMU double max(float a, double b) { return fmax(a, b); }
EMU double min(double a, float b) { return fmin(a, b); }
EMU double max(double a, float b) { return fmax(a, b); }
EMU unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
EMU unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
EMU long long llmin(long long a, long long b) { return b < a ? b : a; }
EMU long long llmax(long long a, long long b) { return a < b ? b : a; }
EMU emu_u64 ullmin(emu_u64 a, emu_u64 b) { return b < a ? b : a; }
EMU emu_u64 ullmax(emu_u64 a, emu_u64 b) { return a < b ? b : a; }

// --- numbers -------------------------------------------------------------------------------------

EMU float rsqrtf(float v) { return (float)(1.0 / sqrt((double)v)); }
EMU double rsqrt(double v) { return 1.0 / sqrt(v); }
EMU float rsqrt(float v) { return rsqrtf(v); }
EMU float rcbrtf(float v) { return (float)(1.0 / cbrt((double)v)); }
EMU double rcbrt(double v) { return 1.0 / cbrt(v); }
EMU float fdividef(float a, float b) { return a / b; }
EMU void sincospi(double v, double* s, double* c) {
    double r = v - 2.0 * rint(v / 2.0);
    *s = r == rint(r) ? copysign(0.0, v) : fabs(r) == 0.5 ? copysign(1.0, r) : sin(M_PI * r);
    *c = fabs(fabs(r) - 0.5) == 0.0 ? 0.0 : r == 0.0 ? 1.0 : fabs(r) == 1.0 ? -1.0 : cos(M_PI * r);
}
EMU double sinpi(double v) { double s, c; sincospi(v, &s, &c); return s; }
EMU double cospi(double v) { double s, c; sincospi(v, &s, &c); return c; }
EMU void sincospif(float v, float* s, float* c) {
    double a, b;
    sincospi(v, &a, &b);
    *s = (float)a;
    *c = (float)b;
}
EMU float sinpif(float v) { return (float)sinpi(v); }
EMU float cospif(float v) { return (float)cospi(v); }
EMU float normcdff(float v) { return (float)(0.5 * erfc(-(double)v * M_SQRT1_2)); }
EMU double normcdf(double v) { return 0.5 * erfc(-v * M_SQRT1_2); }
EMU double erfcx(double v) { return v < 25 ? exp(v * v) * erfc(v) : 1.0 / (v * 1.7724538509055160273) * (1 - 0.5 / (v * v)); }
EMU float erfcxf(float v) { return (float)erfcx(v); }
EMU float norm3df(float a, float b, float c) { return (float)sqrt((double)a * a + (double)b * b + (double)c * c); }
EMU float norm4df(float a, float b, float c, float d) { return (float)sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d); }
EMU float rnorm3df(float a, float b, float c) { return (float)(1 / sqrt((double)a * a + (double)b * b + (double)c * c)); }
EMU float rhypotf(float a, float b) { return (float)(1 / sqrt((double)a * a + (double)b * b)); }
EMU float __saturatef(float v) { return v > 0.f ? (v < 1.f ? v : 1.f) : 0.f; }
// The special function units: what they are given is rounded to float on the way.
EMU float __exp2f(float v) { return exp2f(v); }
EMU float __expf(float v) { return exp2f(v * 1.4426950408889634f); }
EMU float __exp10f(float v) { return exp2f(v * 3.3219280948873623f); }
EMU float __log2f(float v) { return log2f(v); }
EMU float __logf(float v) { return log2f(v) * 0.69314718055994531f; }
EMU float __log10f(float v) { return log2f(v) * 0.30102999566398120f; }
EMU float __powf(float a, float b) { return exp2f(b * log2f(a)); }
EMU float __sinf(float v) { return (float)sin(2 * M_PI * (double)(v * 0.15915494309189535f)); }
EMU float __cosf(float v) { return (float)cos(2 * M_PI * (double)(v * 0.15915494309189535f)); }
EMU void __sincosf(float v, float* s, float* c) { *s = __sinf(v); *c = __cosf(v); }
EMU float __tanf(float v) { return __sinf(v) / __cosf(v); }
EMU float __tanhf(float v) { return (float)tanh((double)v); }
EMU float __fdividef(float a, float b) {
    return fabsf(b) > 0x1p126f && fabsf(b) < INFINITY ? 0.f * a : a * (1.f / b);
}
// Each is one rounding: none may be made part of another.
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#define EMU_ONE __attribute__((noinline, unused, optimize("fp-contract=off"))) static
EMU_ONE float __fadd_rn(float a, float b) { return a + b; }
EMU_ONE float __fsub_rn(float a, float b) { return a - b; }
EMU_ONE float __fmul_rn(float a, float b) { return a * b; }
EMU_ONE float __fdiv_rn(float a, float b) { return a / b; }
EMU_ONE double __dadd_rn(double a, double b) { return a + b; }
EMU_ONE double __dsub_rn(double a, double b) { return a - b; }
EMU_ONE double __dmul_rn(double a, double b) { return a * b; }
EMU_ONE double __ddiv_rn(double a, double b) { return a / b; }
#pragma GCC pop_options
EMU float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
EMU double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
EMU float __fsqrt_rn(float v) { return sqrtf(v); }
EMU double __dsqrt_rn(double v) { return sqrt(v); }
EMU float __frcp_rn(float v) { return 1.f / v; }
EMU double __drcp_rn(double v) { return 1.0 / v; }
EMU float __frsqrt_rn(float v) { return rsqrtf(v); }
// The other roundings, from a value that double holds exactly or nearly.
EMU float emu_down(double v) { float f = (float)v; return (double)f > v ? nextafterf(f, -INFINITY) : f; }
EMU float emu_up(double v) { float f = (float)v; return (double)f < v ? nextafterf(f, INFINITY) : f; }
EMU float emu_zero(double v) { return v < 0 ? emu_up(v) : emu_down(v); }
#define EMU_ROUNDED(NAME, EXPRESSION)                                                \
    EMU float __f##NAME##_rd(float a, float b) { return emu_down(EXPRESSION); }      \
    EMU float __f##NAME##_ru(float a, float b) { return emu_up(EXPRESSION); }        \
    EMU float __f##NAME##_rz(float a, float b) { return emu_zero(EXPRESSION); }
EMU_ROUNDED(add, (double)a + b)
EMU_ROUNDED(sub, (double)a - b)
EMU_ROUNDED(mul, (double)a * b)
EMU_ROUNDED(div, (double)a / b)

// --- conversions: what does not fit becomes the nearest that does, and NaN zero -------------------

template <class T> T emu_whole(double v) {
    if (v != v) return sizeof(T) == 8 ? (T)(1ull << 63) : 0;
    if (v >= -(double)std::numeric_limits<T>::lowest() + 0.0 && std::is_signed_v<T>) return std::numeric_limits<T>::max();
    if (v <= (double)std::numeric_limits<T>::lowest()) return std::numeric_limits<T>::lowest();
    if (v >= (double)std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
    return (T)v;
}
#define EMU_WHOLE(FROM, F, TO, T)                                                       \
    EMU T __##FROM##2##TO##_rn(F v) { return emu_whole<T>(rint((double)v)); }           \
    EMU T __##FROM##2##TO##_rz(F v) { return emu_whole<T>(trunc((double)v)); }          \
    EMU T __##FROM##2##TO##_rd(F v) { return emu_whole<T>(floor((double)v)); }          \
    EMU T __##FROM##2##TO##_ru(F v) { return emu_whole<T>(ceil((double)v)); }
EMU_WHOLE(float, float, int, int)
EMU_WHOLE(float, float, uint, unsigned)
EMU_WHOLE(float, float, ll, long long)
EMU_WHOLE(float, float, ull, unsigned long long)
EMU_WHOLE(double, double, int, int)
EMU_WHOLE(double, double, uint, unsigned)
EMU_WHOLE(double, double, ll, long long)
EMU_WHOLE(double, double, ull, unsigned long long)
#define EMU_FROM_WHOLE(FROM, F)                                             \
    EMU float __##FROM##2float_rn(F v) { return (float)v; }                 \
    EMU float __##FROM##2float_rz(F v) { return emu_zero((double)v); }      \
    EMU float __##FROM##2float_rd(F v) { return emu_down((double)v); }      \
    EMU float __##FROM##2float_ru(F v) { return emu_up((double)v); }        \
    EMU double __##FROM##2double_rn(F v) { return (double)v; }
EMU_FROM_WHOLE(int, int)
EMU_FROM_WHOLE(uint, unsigned)
EMU_FROM_WHOLE(ll, long long)
EMU_FROM_WHOLE(ull, unsigned long long)
EMU float __double2float_rn(double v) { return (float)v; }
EMU float __double2float_rz(double v) { return emu_zero(v); }
EMU float __double2float_rd(double v) { return emu_down(v); }
EMU float __double2float_ru(double v) { return emu_up(v); }

// --- halves: what CUDA's headers have for devices alone --------------------------------------------

#define EMU_HALVES(H, TO, FROM)                                          \
    EMU H hexp(H v) { return FROM(expf(TO(v))); }                        \
    EMU H hexp2(H v) { return FROM(exp2f(TO(v))); }                      \
    EMU H hlog(H v) { return FROM(logf(TO(v))); }                        \
    EMU H hlog2(H v) { return FROM(log2f(TO(v))); }                      \
    EMU H hsin(H v) { return FROM(sinf(TO(v))); }                        \
    EMU H hcos(H v) { return FROM(cosf(TO(v))); }                        \
    EMU H hsqrt(H v) { return FROM(sqrtf(TO(v))); }                      \
    EMU H hrsqrt(H v) { return FROM(rsqrtf(TO(v))); }                    \
    EMU H hrcp(H v) { return FROM(1.f / TO(v)); }                        \
    EMU H htanh(H v) { return FROM(tanhf(TO(v))); }                      \
    EMU H hfloor(H v) { return FROM(floorf(TO(v))); }                    \
    EMU H hceil(H v) { return FROM(ceilf(TO(v))); }                      \
    EMU H htrunc(H v) { return FROM(truncf(TO(v))); }                    \
    EMU H hrint(H v) { return FROM(rintf(TO(v))); }
EMU_HALVES(__half, __half2float, __float2half)
EMU_HALVES(__nv_bfloat16, __bfloat162float, __float2bfloat16)

// --- copies that a device makes on the side are made at once ----------------------------------------

EMU void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
    if (((size_t)to | (size_t)from) % size) emu_trap("misaligned address");
    memcpy(to, from, size - zeros);
    memset((char*)to + size - zeros, 0, zeros);
}
EMU void __pipeline_commit() {}
EMU void __pipeline_wait_prior(size_t) {}

// --- a launch ---------------------------------------------------------------------------------------

// A variable beside the shared ones, and how far behind the first of them it is: set when loaded.
static thread_local char emu_anchor;
extern "C" { __attribute__((used, visibility("default"))) size_t emu_anchor_at; }
// The first look for such a variable may cost vector registers what they hold, with some C libraries:
// it is made in a call of its own.
static __attribute__((noipa)) char* emu_fixed() {
    asm volatile("" ::: "memory");
    return &emu_anchor - emu_anchor_at;
}

template <class T> T emu_take(const char*& at, const char* start) {
    size_t offset = ((at - start) + alignof(T) - 1) / alignof(T) * alignof(T);
    T value;
    memcpy((void*)&value, start + offset, sizeof(T));
    at = start + offset + sizeof(T);
    return value;
}
template <class... A> struct EmuCall {
    void (*kernel)(A...);
    std::tuple<A...> values;
    static void body(void* me) {
        EmuCall* call = (EmuCall*)me;
        std::apply(call->kernel, call->values);
    }
};
template <class... A>
int emu_launch(void (*kernel)(A...), const char* arguments, const unsigned* grid,
               const unsigned* block, size_t shared, unsigned seed, unsigned poison, double limit) {
    const char* at = arguments;
    char* fixed = emu_fixed();
    EmuCall<A...> call{kernel, std::tuple<A...>{emu_take<std::remove_const_t<A>>(at, arguments)...}};
    return emu_run(&EmuCall<A...>::body, &call, grid, block, shared, seed, poison, limit,
                   (const void*)&emu_anchor_at, fixed);
}
