// Spins on a sheet, warmed for a number of sweeps: `magnet HEIGHT WIDTH SWEEPS`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// The chance of a spin to turn, of 2^32, by what its neighbours hold it with: none, one, ... four of them.
__device__ unsigned chance(int held) {
    return held <= 0 ? 4294967295u : held == 1 ? 1784587000u : held == 2 ? 741500000u : held == 3 ? 308100000u : 128000000u;
}

__device__ unsigned drawn(unsigned place, unsigned sweep) {
    unsigned v = place * 2654435769u + sweep * 2246822519u + 374761393u;
    v = (v ^ v >> 15) * 2246822519u;
    v = (v ^ v >> 13) * 3266489917u;
    return v ^ v >> 16;
}

// Both colours with the first launch: spins of one colour have neighbours of the other alone, and a block
// is through with the first before it begins the second.
__global__ void turned(signed char* spin, int h, int w, int colour, unsigned sweep) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (colour) return;
    for (; colour < 2; ++colour) {
        if (c < w && r < h && (r + c) % 2 == colour) {
            int i = r * w + c, around = 0;
            if (r > 0) around += spin[i - w];
            if (r < h - 1) around += spin[i + w];
            if (c > 0) around += spin[i - 1];
            if (c < w - 1) around += spin[i + 1];
            if (drawn(i, sweep) < chance(spin[i] * around)) spin[i] = -spin[i];
        }
        __syncthreads();
    }
}

__global__ void added(const signed char* spin, int* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, (int)spin[i]);
}

int main(int argc, char** argv) {
    int h = argc > 1 ? atoi(argv[1]) : 300, w = argc > 2 ? atoi(argv[2]) : 400, sweeps = argc > 3 ? atoi(argv[3]) : 20;
    int n = h * w, sum = 0;
    std::vector<signed char> spin(n);
    unsigned state = 2024;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        spin[i] = state >> 31 ? 1 : -1;
    }
    signed char* on_device;
    int* total;
    cudaMalloc(&on_device, n);
    cudaMalloc(&total, sizeof(int));
    cudaMemcpy(on_device, spin.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(total, 0, sizeof(int));
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    for (int s = 0; s < sweeps; ++s) {
        turned<<<grid, block>>>(on_device, h, w, 0, s);
        turned<<<grid, block>>>(on_device, h, w, 1, s);
    }
    added<<<(n + 255) / 256, 256>>>(on_device, total, n);
    cudaMemcpy(spin.data(), on_device, n, cudaMemcpyDeviceToHost);
    cudaMemcpy(&sum, total, sizeof(int), cudaMemcpyDeviceToHost);
    printf("magnetisation %d of %d\n", sum, n);
    cudaFree(on_device);
    cudaFree(total);
    return 0;
}
