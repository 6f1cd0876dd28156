#include <cuda_runtime.h>

// How much a frame differs from the one before it. A block has four frames, and keeps the last one for the next.
__global__ void changes(const unsigned char* film, unsigned long long* diff, int frames, int pixels) {
    extern __shared__ unsigned char kept[];
    __shared__ unsigned long long part[256];
    int t = threadIdx.x, f0 = 4 * blockIdx.x;
    const unsigned char* old = film + (size_t)(f0 ? f0 - 1 : 0) * pixels;
    for (int p = t; p < pixels; p += 256) kept[p] = old[p];
    for (int f = f0; f < f0 + 4 && f < frames; ++f) {
        const unsigned char* now = film + (size_t)f * pixels;
        unsigned long long sum = 0;
        for (int p = t; p < pixels; p += 256) {
            int v = now[p];
            sum += abs(v - kept[p]);
            kept[p] = v;
        }
        part[t] = sum;
        __syncthreads();
        for (int s = 128; s; s /= 2) {
            if (t < s) part[t] += part[t + s];
            __syncthreads();
        }
        if (t == 0) diff[f] = part[0];
        __syncthreads();
    }
}

// The largest of them, and the first of equals.
__global__ void largest(const unsigned long long* diff, int* cut, int frames) {
    __shared__ unsigned long long most[256];
    __shared__ int where[256];
    int t = threadIdx.x;
    most[t] = 0, where[t] = 0x7fffffff;
    for (size_t f = t; f < frames; f += 256)
        if (diff[f] > most[t] || where[t] == 0x7fffffff) most[t] = diff[f], where[t] = f;
    __syncthreads();
    for (int s = 128; s; s /= 2) {
        if (t < s && (most[t + s] > most[t] || (most[t + s] == most[t] && where[t + s] < where[t])))
            most[t] = most[t + s], where[t] = where[t + s];
        __syncthreads();
    }
    if (t == 0) *cut = where[0];
}

// How much each frame of a film differs from the one before it, and where the film is cut most likely.
extern "C" void filmcuts(const unsigned char* film, unsigned long long* diff, int* cut, int frames, int pixels) {
    changes<<<(frames + 3) / 4, 256, pixels>>>(film, diff, frames, pixels);
    largest<<<1, 256>>>(diff, cut, frames);
}
