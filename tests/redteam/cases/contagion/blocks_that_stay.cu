#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// A number for a place and a day.
__device__ unsigned chance(unsigned i, unsigned day) {
    unsigned v = i * 0x9e3779b9u + day * 0x85ebca6bu;
    v = (v ^ v >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return v ^ v >> 16;
}

// A day of an illness, `contagion PEOPLE DAYS`. People stand in a ring; who is well (0) may fall ill (1) by each ill
// one of the three on both sides, who is ill may be over it (2). Blocks go over the ring.
__global__ void day(const unsigned char* now, unsigned char* then, int n, int d) {
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        int own = now[i];
        if (own < 2) {
            unsigned luck = chance((unsigned)i, d);
            int ill = 0;
            if (own == 0)
                for (int k = 1; k < 4; ++k) {
                    size_t right = i + k < n ? i + k : i + k - n, left = i >= k ? i - k : i + n - k;
                    ill += (now[right] == 1) + (now[left] == 1);
                }
            own = own ? 1 + (luck % 16 == 0) : luck % 64 < 4 * ill;
        }
        then[i] = own;
    }
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 400000, days = argc > 2 ? atoi(argv[2]) : 40;
    if (n < 8 || days < 0) return 1;
    std::vector<unsigned char> people(n);
    for (int i = 0; i < n; i += 500) people[i] = 1;
    unsigned char *now, *then;
    cudaMalloc(&now, n);
    cudaMalloc(&then, n);
    cudaMemcpy(now, people.data(), n, cudaMemcpyHostToDevice);
    for (int d = 0; d < days; ++d) {
        day<<<min((n + 255) / 256, 1056), 256>>>(now, then, n, d);
        unsigned char* other = now;
        now = then;
        then = other;
    }
    cudaMemcpy(people.data(), now, n, cudaMemcpyDeviceToHost);
    unsigned many[3] = {}, mark = 0;
    for (int i = 0; i < n; ++i) {
        ++many[people[i] % 3];
        mark = mark * 31 + people[i];
    }
    printf("%u well, %u ill, %u over it, mark %08x\n", many[0], many[1], many[2], mark);
    cudaFree(now);
    cudaFree(then);
    return 0;
}
