// The part of the CUDA driver's and CUPTI's binary interface that a capture needs.
//
// Declared here rather than included, so that building needs a C++ compiler and nothing else. The
// layouts and numbers are those of cuda.h, cupti_callbacks.h and cupti_driver_cbid.h; they have
// been the same from CUDA 12 to 13. Handles are opaque.
#pragma once
#include <cstddef>
#include <cstdint>

using Result = int;
using Function = void *;
using Stream = void *;
using Address = unsigned long long;

struct LaunchAttribute {
  int id;
  char pad[4];
  unsigned char value[64];
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned count;
};

enum { kSuccess = 0, kNotSupported = 801 };
enum { kIgnored = 0, kAccessPolicy = 1, kCooperative = 2, kSynchronization = 3, kCluster = 4,
       kClusterPolicy = 5, kProgrammaticStream = 6, kProgrammaticEvent = 7, kPriority = 8,
       kSyncDomainMap = 9, kSyncDomain = 10, kCarveout = 14 };
enum { kMemoryType = 2, kIsManaged = 8, kRangeStart = 11, kRangeSize = 12, kPool = 17 };
enum { kHostMemory = 1, kDeviceMemory = 2, kUnifiedMemory = 4 };
enum { kRelaxed = 2 };                // CU_STREAM_CAPTURE_MODE_RELAXED
enum { kPerThreadDefaultStream = 2 };  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

// Parameters of the driver's functions as CUPTI hands them over.
struct LaunchKernelParams {
  Function function;
  unsigned grid[3], block[3], shared;
  Stream stream;
  void **params, **extra;
};
struct LaunchKernelExParams {
  const LaunchConfig *config;
  Function function;
  void **params, **extra;
};

struct CuptiData {
  int site;  // 0 on entry, 1 on exit
  const char *function;
  const void *params;
  void *result;
  const char *symbol;
  void *context;
  uint32_t contextId;
  uint64_t *correlation;
  uint32_t correlationId;
};
using CuptiCallback = void (*)(void *, int, uint32_t, const CuptiData *);
enum { kDriverDomain = 1 };
enum { kOnLaunch = 307, kOnLaunchPt = 442, kOnCooperative = 477, kOnCooperativePt = 478,
       kOnMultiDevice = 480, kOnGraph = 514, kOnGraphPt = 515, kOnLaunchEx = 652,
       kOnLaunchExPt = 653 };
