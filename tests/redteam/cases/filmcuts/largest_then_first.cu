#include <cuda_runtime.h>

// How much a frame differs from the one before it; four pixels at a time where they lie so.
__global__ void changes(const unsigned char* film, unsigned long long* diff, unsigned long long* most, int frames,
                        int pixels) {
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
        atomicMax(most, part[0]);
    }
}

// Of those that are the largest, the first one.
__global__ void first(const unsigned long long* diff, const unsigned long long* most, int* cut, int frames) {
    size_t f = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (f < frames && diff[f] == *most) atomicMin(cut, (int)f);
}

// How much each frame of a film differs from the one before it, and where the film is cut most likely.
extern "C" void filmcuts(const unsigned char* film, unsigned long long* diff, int* cut, int frames, int pixels) {
    unsigned long long* most;
    cudaMallocAsync((void**)&most, sizeof(*most), 0);
    cudaMemsetAsync(most, 0, sizeof(*most), 0);
    // Larger than any frame.
    cudaMemsetAsync(cut, 0x7f, sizeof(*cut), 0);
    changes<<<frames, 256>>>(film, diff, most, frames, pixels);
    first<<<frames / 256 + 1, 256>>>(diff, most, cut, frames);
    cudaFreeAsync(most, 0);
}
