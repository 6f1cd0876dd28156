// What the worker itself runs on the device: it lays out argument slabs between guard bands,
// checks them, compares outputs, empties the L2 cache and holds the stream while work is queued.
//
// A slab holds one set of pointer arguments: guard, buffer, guard, buffer, ..., guard. Several
// slabs lie `stride` bytes apart; blockIdx.y picks the slab.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

enum Kind { GUARD = 0, INPUT = 1, INOUT = 2, OUTPUT = 3 };

struct Segment {
    u64 offset;   // from the slab's start; a multiple of 16 unless a guard
    u64 bytes;
    u64 source;   // offset of its first contents in the master copy
    u64 kind;
};

struct Damage { u64 guards, inputs, first; };
struct Difference { u64 different, nan; double largest, squares; };

__device__ __forceinline__ u64 mix(u64 x) {  // splitmix64 finalizer (Steele, Lea, Flood 2014)
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

__device__ __forceinline__ uint4 pattern(u64 seed, u64 word) {
    if (seed == ~0ull) return make_uint4(~0u, ~0u, ~0u, ~0u);  // NaN in every float format
    const u64 a = mix(seed ^ (word * 2)), b = mix(seed ^ (word * 2 + 1));
    return make_uint4((u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32));
}

__device__ __forceinline__ u8 byte_of(uint4 w, u32 i) {
    const u32 lane = i < 8 ? (i < 4 ? w.x : w.y) : (i < 12 ? w.z : w.w);
    return (u8)(lane >> (8 * (i & 3)));
}

// One 16-byte word of a segment's first contents; `at` is relative to the segment.
__device__ uint4 contents(const u8* master, const Segment& s, u64 rotation, u64 at) {
    u64 from = at + rotation;
    if (from >= s.bytes) from -= s.bytes;
    const u8* p = master + s.source + from;
    if (from + 16 <= s.bytes) {
        if (((u64)p & 15) == 0) return *(const uint4*)p;
        if (((u64)p & 3) == 0) {
            const u32* q = (const u32*)p;
            return make_uint4(q[0], q[1], q[2], q[3]);
        }
    }
    union { uint4 w; u8 b[16]; } out;
    for (int i = 0; i < 16; ++i) {
        u64 k = from + i;
        if (k >= s.bytes) k -= s.bytes;
        if (k >= s.bytes) k = 0;  // past the end: a buffer shorter than a word
        out.b[i] = master[s.source + k];
    }
    return out.w;
}

__device__ __forceinline__ uint4 expected(const u8* master, const Segment& s, u64 rotation,
                                          u64 seed, u64 at) {
    if (s.kind == INPUT || s.kind == INOUT) return contents(master, s, rotation, at);
    return pattern(seed, (s.offset + at) >> 4);
}

__device__ __forceinline__ u64 seed_of(u64 seed, u64 slab) {
    return seed == ~0ull ? seed : mix(seed + slab) >> 1;
}

// Guards may begin inside a word (after a buffer of odd size): step to the boundary bytewise.
#define FOR_WORDS(s, at, length)                                                              \
    for (u64 head_ = (16 - ((s).offset & 15)) & 15, words_ = 0, step_ = thread,               \
             at = 0, length = 0; next_word(s, head_, words_, step_, stride_threads, at, length);)

__device__ __forceinline__ bool next_word(const Segment& s, u64 head, u64&, u64& step,
                                          u64 threads, u64& at, u64& length) {
    if (head > s.bytes) head = s.bytes;
    const u64 extra = head ? 1 : 0;
    const u64 words = extra + (s.bytes - head + 15) / 16;
    if (step >= words) return false;
    if (extra && step == 0) { at = 0; length = head; }
    else {
        at = head + (step - extra) * 16;
        length = s.bytes - at < 16 ? s.bytes - at : 16;
    }
    step += threads;
    return true;
}

__device__ __forceinline__ uint4 word_of_guard(u64 seed, u64 position, u32 length, u32* shift) {
    *shift = (u32)(position & 15);
    return pattern(seed, position >> 4);
}

extern "C" __global__ void optiml_restore(u8* slabs, u64 stride, const Segment* segments, u32 count,
                                   const u8* master, const u64* rotations, u64 seed) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 stride_threads = (u64)gridDim.x * blockDim.x;
    u8* slab = slabs + stride * blockIdx.y;
    const u64 own = seed_of(seed, blockIdx.y);
    for (u32 n = 0; n < count; ++n) {
        const Segment s = segments[n];
        const u64 rotation = rotations[(u64)blockIdx.y * count + n];
        FOR_WORDS(s, at, length) {
            u8* to = slab + s.offset + at;
            if (s.kind == GUARD) {
                u32 shift;
                const uint4 w = word_of_guard(own, s.offset + at, (u32)length, &shift);
                if (length == 16 && shift == 0) *(uint4*)to = w;
                else for (u32 i = 0; i < length; ++i) to[i] = byte_of(w, shift + i);
                continue;
            }
            const uint4 w = expected(master, s, rotation, own, at);
            if (length == 16) *(uint4*)to = w;
            else for (u32 i = 0; i < length; ++i) to[i] = byte_of(w, i);
        }
    }
}

extern "C" __global__ void optiml_check(const u8* slabs, u64 stride, const Segment* segments, u32 count,
                                 const u8* master, const u64* rotations, u64 seed, Damage* out) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 stride_threads = (u64)gridDim.x * blockDim.x;
    const u8* slab = slabs + stride * blockIdx.y;
    const u64 own = seed_of(seed, blockIdx.y);
    for (u32 n = 0; n < count; ++n) {
        const Segment s = segments[n];
        if (s.kind != GUARD && s.kind != INPUT) continue;
        const u64 rotation = rotations[(u64)blockIdx.y * count + n];
        FOR_WORDS(s, at, length) {
            const u8* from = slab + s.offset + at;
            u32 shift = 0;
            const uint4 w = s.kind == GUARD
                ? word_of_guard(own, s.offset + at, (u32)length, &shift)
                : expected(master, s, rotation, own, at);
            bool same = true;
            if (length == 16 && shift == 0) {
                const uint4 v = *(const uint4*)from;
                same = v.x == w.x && v.y == w.y && v.z == w.z && v.w == w.w;
            } else {
                for (u32 i = 0; i < length; ++i) same &= from[i] == byte_of(w, shift + i);
            }
            if (!same) {
                atomicAdd(s.kind == GUARD ? &out[blockIdx.y].guards : &out[blockIdx.y].inputs, 1ull);
                atomicMin(&out[blockIdx.y].first, s.offset + at);
            }
        }
    }
}

// Copies what was written, enciphered: while a candidate runs no answer is readable on the device.
extern "C" __global__ void optiml_seal(u8* vault, const u8* slabs, u64 stride, const Segment* segments,
                                u32 count, u64 key) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 stride_threads = (u64)gridDim.x * blockDim.x;
    const u64 base = stride * blockIdx.y;
    for (u32 n = 0; n < count; ++n) {
        const Segment s = segments[n];
        if (s.kind != INOUT && s.kind != OUTPUT) continue;
        FOR_WORDS(s, at, length) {
            const u64 where = base + s.offset + at;
            const uint4 k = pattern(key, where >> 4);
            if (length == 16) {
                const uint4 v = *(const uint4*)(slabs + where);
                *(uint4*)(vault + where) = make_uint4(v.x ^ k.x, v.y ^ k.y, v.z ^ k.z, v.w ^ k.w);
            } else {
                for (u32 i = 0; i < length; ++i)
                    vault[where + i] = slabs[where + i] ^ byte_of(k, i);
            }
        }
    }
}

__device__ __forceinline__ double half_bits(u16 h) {
    const u32 sign = (h >> 15) & 1, exponent = (h >> 10) & 31, fraction = h & 1023;
    double v;
    if (exponent == 31) v = fraction ? __longlong_as_double(0x7FF8000000000000ll)
                                     : __longlong_as_double(0x7FF0000000000000ll);
    else if (exponent == 0) v = fraction * 5.9604644775390625e-08;
    else v = (double)(fraction + 1024) * exp2((double)exponent - 25.0);
    return sign ? -v : v;
}

union Word { uint4 w; u8 b[16]; float f[4]; double d[2]; u16 h[8]; };

__device__ __forceinline__ void tally(double got, double want, double floor_, Difference& mine) {
    if (isnan(got) || isnan(want)) { mine.nan += isnan(got) != isnan(want); return; }
    if (got == want) return;
    const double gap = fabs(got - want), scaled = gap / (fabs(want) + floor_);
    mine.largest = scaled > mine.largest || isnan(scaled) ? (isnan(scaled) ? 1e300 : scaled)
                                                          : mine.largest;
    mine.squares += gap * gap;
}

// code: 0 bits, 1 float, 2 double, 3 half, 4 bfloat16
extern "C" __global__ void optiml_compare(const u8* vault, const u8* slabs, u64 stride,
                                   const Segment* segments, u32 which, u32 code, u64 key,
                                   double floor_, Difference* out) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 stride_threads = (u64)gridDim.x * blockDim.x;
    const u64 base = stride * blockIdx.y;
    const Segment s = segments[which];
    Difference mine = {0, 0, 0.0, 0.0};
    FOR_WORDS(s, at, length) {
        const u64 where = base + s.offset + at;
        const uint4 k = pattern(key, where >> 4);
        Word got, want;
        got.w = make_uint4(0, 0, 0, 0);
        want.w = got.w;
        if (length == 16) {
            got.w = *(const uint4*)(slabs + where);
            const uint4 v = *(const uint4*)(vault + where);
            want.w = make_uint4(v.x ^ k.x, v.y ^ k.y, v.z ^ k.z, v.w ^ k.w);
        } else {
            for (u32 i = 0; i < length; ++i) {
                got.b[i] = slabs[where + i];
                want.b[i] = vault[where + i] ^ byte_of(k, i);
            }
        }
        if (got.w.x == want.w.x && got.w.y == want.w.y && got.w.z == want.w.z &&
            got.w.w == want.w.w) continue;
        mine.different += 1;
        if (code == 1) for (int i = 0; i < 4; ++i) tally(got.f[i], want.f[i], floor_, mine);
        if (code == 2) for (int i = 0; i < 2; ++i) tally(got.d[i], want.d[i], floor_, mine);
        if (code == 3)
            for (int i = 0; i < 8; ++i)
                tally(half_bits(got.h[i]), half_bits(want.h[i]), floor_, mine);
        if (code == 4)
            for (int i = 0; i < 8; ++i)
                tally(__uint_as_float((u32)got.h[i] << 16), __uint_as_float((u32)want.h[i] << 16),
                      floor_, mine);
    }
    if (mine.different == 0) return;
    Difference* total = out + blockIdx.y;
    atomicAdd(&total->different, mine.different);
    if (mine.nan) atomicAdd(&total->nan, mine.nan);
    atomicMax((u64*)&total->largest, (u64)__double_as_longlong(mine.largest));
    atomicAdd(&total->squares, mine.squares);
}

// Adds up a number for each element of a segment: equal sums, equal elements in whatever order. What
// still holds its poison is left out where that is asked for, since its place decides what it holds.
extern "C" __global__ void optiml_elements(const u8* slabs, u64 stride, const Segment* segments,
                                    u32 which, u32 size, u32 sealed, u32 left_out, u64 key,
                                    u64 seed, u64* out) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 stride_threads = (u64)gridDim.x * blockDim.x;
    const u64 base = stride * blockIdx.y, own = seed_of(seed, blockIdx.y);
    const Segment s = segments[which];
    u64 total = 0;
    for (u64 i = thread; i < s.bytes / size; i += stride_threads) {
        u64 hash = 0, at_key = ~0ull, at_poison = ~0ull;
        uint4 k = make_uint4(0, 0, 0, 0), poison = k;
        bool left = true;
        for (u32 b = 0; b < size; ++b) {
            const u64 inside = s.offset + i * size + b, where = base + inside;
            u8 v = slabs[where];
            if (sealed) {
                if (where >> 4 != at_key) { at_key = where >> 4; k = pattern(key, at_key); }
                v ^= byte_of(k, (u32)(where & 15));
            }
            if (inside >> 4 != at_poison) {
                at_poison = inside >> 4;
                poison = pattern(own, at_poison);
            }
            left &= v == byte_of(poison, (u32)(inside & 15));
            hash = mix(hash ^ v);
        }
        if (!left || !left_out) total += hash;
    }
    if (total) atomicAdd(&out[blockIdx.y], total);
}

// Reads, so that the lines it leaves behind are clean and cost nobody a write-back.
extern "C" __global__ void optiml_sweep(const uint4* buffer, u64 words, u32* sink) {
    const u64 threads = (u64)gridDim.x * blockDim.x;
    u32 all = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += threads) {
        const uint4 v = buffer[i];
        all ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (all == 0x5EED1E55u) *sink = all;
}

__device__ __forceinline__ u64 nanoseconds() {
#ifdef __CUDA_ARCH__
    u64 t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
#else
    return 0;
#endif
}

// Holds the stream while launches are queued behind it, and reads the SM clock meanwhile.
extern "C" __global__ void optiml_gate(u64 duration_ns, u64* seen) {
    const u64 start = nanoseconds();
    const long long cycles = clock64();
    u64 now = start;
    while (now - start < duration_ns) now = nanoseconds();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        seen[0] = (u64)(clock64() - cycles);
        seen[1] = now - start;
    }
}

// A word of a pattern: of even values numbers of either sign from 2^-27 to 2^26, so that some are of
// the size that a computation takes for its own; of odd ones words that share their first bits.
__device__ u32 optiml_litter(u32 value, u32 i) {
    u32 h = (i + 1) * 2654435761u ^ value * 0x9E3779B1u;
    h = (h ^ h >> 15) * 0x85EBCA77u;
    h ^= h >> 13;
    if (value & 1) return value ^ h >> 9;
    return (h & 0x807FFFFFu) | (100 + (h >> 8) % 54) << 23;
}

// Leaves shared and thread-local memory full of patterns, for whoever reads before writing.
extern "C" __global__ void optiml_dirty(u32 bytes, u32 value, u32* sink) {
    extern __shared__ u32 shared_words[];
    volatile u32* words = shared_words;
    for (u32 i = threadIdx.x; i < bytes / 4; i += blockDim.x) words[i] = optiml_litter(value, i);
    volatile u32 stack[256];
    for (u32 i = 0; i < 256; ++i) stack[i] = optiml_litter(value, i);
    __syncthreads();
    if (words[threadIdx.x] == 1 && stack[threadIdx.x & 255] == 2) *sink = 1;
}
