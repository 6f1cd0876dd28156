// What CUDA 13 took out of its runtime, for programs written for an older one: functions by their
// newer names, and what a device's properties no longer hold, asked for one by one.
// CUDA 13.0 Release Notes, "Deprecated and Dropped Features"; CUDA Runtime API 12.9.
#pragma once
#if defined(__cplusplus)
#include <cuda_runtime.h>
#if CUDART_VERSION >= 13000

static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
static inline cudaError_t cudaThreadGetLimit(size_t *value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *config) {
  return cudaDeviceGetCacheConfig(config);
}

static inline cudaMemLocation optimlLocation(int device) {
  cudaMemLocation place = {};
  place.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  place.id = device < 0 ? 0 : device;
  return place;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *at, size_t bytes, int device,
                                               cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(at, bytes, optimlLocation(device), 0u, stream);
}
static inline cudaError_t cudaMemAdvise(const void *at, size_t bytes, cudaMemoryAdvise advice,
                                        int device) {
  return cudaMemAdvise(at, bytes, advice, optimlLocation(device));
}

struct optimlDeviceProp : cudaDeviceProp {
  int clockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode, memoryClockRate;
  int maxTexture1DLinear, singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};
static inline cudaError_t cudaGetDeviceProperties(optimlDeviceProp *to, int device) {
  const cudaError_t error = cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(to), device);
  if (error != cudaSuccess) return error;
  auto ask = [&](int &value, cudaDeviceAttr what) {
    value = 0;
    if (cudaDeviceGetAttribute(&value, what, device) != cudaSuccess) cudaGetLastError();
  };
  ask(to->clockRate, cudaDevAttrClockRate);
  ask(to->deviceOverlap, cudaDevAttrGpuOverlap);
  ask(to->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout);
  ask(to->computeMode, cudaDevAttrComputeMode);
  ask(to->memoryClockRate, cudaDevAttrMemoryClockRate);
  ask(to->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth);
  ask(to->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio);
  to->cooperativeMultiDeviceLaunch = 0;
  return error;
}
#define cudaDeviceProp optimlDeviceProp

#endif
#endif
