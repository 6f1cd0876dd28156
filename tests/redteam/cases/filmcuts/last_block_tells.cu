#include <cuda_runtime.h>

__device__ unsigned done;

// How much a frame differs from the one before it; four pixels at a time where they lie so. The block that is done last
// looks for the largest, and the first of equals.
__global__ void changes(const unsigned char* film, unsigned long long* diff, int* cut, int frames, int pixels) {
    __shared__ int where[256];
    __shared__ bool last;
    __shared__ unsigned long long part[256];
    int f = blockIdx.x, t = threadIdx.x;
    const unsigned char *now = film + (size_t)f * pixels, *old = now - (f ? pixels : 0);
    unsigned long long sum = 0;
    if ((size_t)film % 4 == 0 && pixels % 4 == 0)
        for (size_t p = t; p < pixels / 4; p += 256)
            sum += __vsadu4(((const unsigned*)now)[p], ((const unsigned*)old)[p]);
    else
        for (size_t p = t; p < pixels; p += 256) sum += abs(now[p] - old[p]);
    part[t] = sum;
    __syncthreads();
    for (int s = 128; s; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) {
        diff[f] = part[0];
        __threadfence();
        last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    part[t] = 0, where[t] = 0x7fffffff;
    for (size_t g = t; g < frames; g += 256) {
        unsigned long long d = __ldcg(&diff[g]);
        if (d > part[t] || where[t] == 0x7fffffff) part[t] = d, where[t] = g;
    }
    __syncthreads();
    for (int s = 128; s; s /= 2) {
        if (t < s && (part[t + s] > part[t] || (part[t + s] == part[t] && where[t + s] < where[t])))
            part[t] = part[t + s], where[t] = where[t + s];
        __syncthreads();
    }
    if (t == 0) *cut = where[0];
}

// How much each frame of a film differs from the one before it, and where the film is cut most likely.
extern "C" void filmcuts(const unsigned char* film, unsigned long long* diff, int* cut, int frames, int pixels) {
    changes<<<frames, 256>>>(film, diff, cut, frames, pixels);
}
