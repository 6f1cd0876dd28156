// The part of the CUDA runtime's binary interface that the interposer stands in front of.
//
// Declared here rather than included, so that building needs a C++ compiler and nothing else. The
// layouts are those of driver_types.h and have been the same from CUDA 11 to 13; handles are opaque.
#pragma once
#include <cstddef>
#include <cstdint>

using Error = int;
using Stream = void *;
using Event = void *;

struct Dim3 {
  unsigned x, y, z;
};
struct Extent {
  size_t width, height, depth;
};
struct Pos {
  size_t x, y, z;
};
struct PitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct Memcpy3D {
  void *srcArray;
  Pos srcPos;
  PitchedPtr srcPtr;
  void *dstArray;
  Pos dstPos;
  PitchedPtr dstPtr;
  Extent extent;
  int kind;
};
struct LaunchConfig {
  Dim3 grid, block;
  size_t shared;
  Stream stream;
  void *attributes;
  unsigned attributeCount;
};

enum { kSuccess = 0, kMemoryAllocation = 2, kNotReady = 600, kMissing = 500 };
enum { kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kDefault = 4 };

inline Stream perThread(Stream stream) {
  // What a null or legacy handle means in code built for one default stream a thread.
  return stream == nullptr ? reinterpret_cast<Stream>(uintptr_t{2}) : stream;
}
