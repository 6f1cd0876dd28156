// Enough of CUDA for g++ to run a kernel on the host, thread after thread. Barriers do nothing, so
// only kernels whose threads do not talk within a block give the right answer.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>
using std::isnan;
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __shared__ static
struct uint4 { unsigned x, y, z, w; };
struct float4 { float x, y, z, w; };
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
struct Index { unsigned x, y, z; };
static Index blockIdx, threadIdx, blockDim, gridDim;
template <class T, class U> T atomicAdd(T* p, U v) { T old = *p; *p += (T)v; return old; }
template <class T, class U> T atomicMin(T* p, U v) { T old = *p; if ((T)v < old) *p = (T)v; return old; }
template <class T, class U> T atomicMax(T* p, U v) { T old = *p; if ((T)v > old) *p = (T)v; return old; }
inline double __longlong_as_double(long long v) { double d; memcpy(&d, &v, 8); return d; }
inline long long __double_as_longlong(double v) { long long d; memcpy(&d, &v, 8); return d; }
inline float __uint_as_float(unsigned v) { float d; memcpy(&d, &v, 4); return d; }
inline void __syncthreads() {}
inline long long clock64() { return 0; }
template <class T> T take(const char*& at, const char* start) {
    size_t offset = ((at - start) + alignof(T) - 1) / alignof(T) * alignof(T);
    T value;
    memcpy(&value, start + offset, sizeof(T));
    at = start + offset + sizeof(T);
    return value;
}
template <class... A>
void launch(void (*kernel)(A...), const char* arguments, const unsigned* g, const unsigned* b) {
    const char* at = arguments;
    std::tuple<A...> values{take<A>(at, arguments)...};
    gridDim = {g[0], g[1], g[2]};
    blockDim = {b[0], b[1], b[2]};
    for (unsigned z = 0; z < g[2]; ++z) for (unsigned y = 0; y < g[1]; ++y)
    for (unsigned x = 0; x < g[0]; ++x)
        for (unsigned w = 0; w < b[2]; ++w) for (unsigned v = 0; v < b[1]; ++v)
        for (unsigned u = 0; u < b[0]; ++u) {
            blockIdx = {x, y, z};
            threadIdx = {u, v, w};
            std::apply(kernel, values);
        }
}
