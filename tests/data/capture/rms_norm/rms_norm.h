#pragma once
#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C"
#endif
void launch_rms_norm(const float *x, const float *weight, float *y, int rows, int dim, float eps,
                     cudaStream_t stream);
