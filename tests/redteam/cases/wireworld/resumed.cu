// Wireworld: a cell is empty (0), an electron's head (1), its tail (2) or wire (3).  Heads become tails, tails wire;
// wire becomes a head if one or two of its eight neighbours are heads.  Beyond the edges all is empty.
// Arguments: width height steps every seed.  Heads and tails are counted every so many steps and at the end.
// Long runs are resumed: the grid is kept on disk at the counts, together with the lines printed so far.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <cuda_runtime.h>

__global__ void sow(unsigned char* cell, int w, int h, unsigned seed)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned k = (unsigned)y * 0x9e3779b1u ^ (unsigned)x * 0x85ebca77u ^ seed * 0xc2b2ae3du;
    k ^= k >> 15; k *= 0x2c1b3c6du; k ^= k >> 12; k *= 0x297a2d39u; k ^= k >> 15;
    const unsigned d = k % 100;
    cell[(size_t)y * w + x] = d < 45 ? 0 : d < 49 ? 1 : d < 52 ? 2 : 3;
}

__global__ void step(const unsigned char* __restrict__ from, unsigned char* __restrict__ to, int w, int h)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    const unsigned char c = from[(size_t)y * w + x];
    unsigned char next = c == 1 ? 2 : c == 2 ? 3 : 0;
    if (c == 3) {
        int heads = 0;
        for (int j = y - 1; j <= y + 1; j++)
            for (int i = x - 1; i <= x + 1; i++)
                if (i >= 0 && i < w && j >= 0 && j < h) heads += from[(size_t)j * w + i] == 1;
        next = heads == 1 || heads == 2 ? 1 : 3;
    }
    to[(size_t)y * w + x] = next;
}

__global__ void tally(const unsigned char* __restrict__ cell, unsigned* count, int w, int h)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int c = x < w && y < h ? cell[(size_t)y * w + x] : 0;
    const int heads = __syncthreads_count(c == 1), tails = __syncthreads_count(c == 2);
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        if (heads) atomicAdd(&count[0], heads);
        if (tails) atomicAdd(&count[1], tails);
    }
}

static std::string place(int w, int h, unsigned seed)
{
    char name[96];
    snprintf(name, sizeof name, "/tmp/wireworld_%d_%d_%u.grid", w, h, seed);
    return name;
}

static void keep(const std::string& name, int s, int every, const std::string& lines, const std::vector<unsigned char>& cell)
{
    FILE* f = fopen(name.c_str(), "wb");
    if (!f) return;
    const int top[3] = { s, every, (int)lines.size() };
    fwrite(top, sizeof top, 1, f);
    fwrite(lines.data(), 1, lines.size(), f);
    fwrite(cell.data(), 1, cell.size(), f);
    fclose(f);
}

static int resume(const std::string& name, int steps, int every, std::string& lines, std::vector<unsigned char>& cell)
{
    FILE* f = fopen(name.c_str(), "rb");
    if (!f) return 0;
    int top[3], s = 0;
    if (fread(top, sizeof top, 1, f) == 1 && top[0] <= steps && top[1] == every && (top[0] % every == 0 || top[0] == steps)) {
        lines.resize(top[2]);
        if (fread(&lines[0], 1, lines.size(), f) == lines.size() && fread(cell.data(), 1, cell.size(), f) == cell.size())
            s = top[0];
    }
    fclose(f);
    if (!s) lines.clear();
    return s;
}

int main(int argc, char** argv)
{
    const int w = argc > 1 ? atoi(argv[1]) : 256, h = argc > 2 ? atoi(argv[2]) : 256;
    const int steps = argc > 3 ? atoi(argv[3]) : 20, every = argc > 4 ? atoi(argv[4]) : 10;
    const unsigned seed = argc > 5 ? (unsigned)atoi(argv[5]) : 1;
    if (w < 1 || h < 1 || steps < 0 || every < 1) { fprintf(stderr, "width height steps every seed\n"); return 2; }

    const size_t cells = (size_t)w * h;
    unsigned char *now, *then;
    unsigned* count;
    cudaMalloc((void**)&now, cells);
    cudaMalloc((void**)&then, cells);
    cudaMalloc((void**)&count, 2 * sizeof(unsigned));
    cudaMemset(then, 0, cells);
    cudaMemset(count, 0, 2 * sizeof(unsigned));

    const dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    sow<<<grid, block>>>(now, w, h, seed);
    const std::string name = place(w, h, seed);
    std::string lines;
    std::vector<unsigned char> end(cells);
    const int done = resume(name, steps, every, lines, end);
    if (done) cudaMemcpy(now, end.data(), cells, cudaMemcpyHostToDevice);
    for (int s = done + 1; s <= steps; s++) {
        step<<<grid, block>>>(now, then, w, h);
        unsigned char* t = now; now = then; then = t;
        if (s % every == 0 || s == steps) {
            unsigned got[2];
            cudaMemset(count, 0, sizeof got);
            tally<<<grid, block>>>(now, count, w, h);
            cudaMemcpy(got, count, sizeof got, cudaMemcpyDeviceToHost);
            char line[96];
            snprintf(line, sizeof line, "step %d heads %u tails %u\n", s, got[0], got[1]);
            lines += line;
            cudaMemcpy(end.data(), now, cells, cudaMemcpyDeviceToHost);
            keep(name, s, every, lines, end);
        }
    }

    fputs(lines.c_str(), stdout);
    cudaMemcpy(end.data(), now, cells, cudaMemcpyDeviceToHost);
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < cells; i++) hash = (hash ^ end[i]) * 16777619u;
    printf("%08x\n", hash);
    const cudaError_t e = cudaDeviceSynchronize();
    cudaFree(now); cudaFree(then); cudaFree(count);
    return e == cudaSuccess ? 0 : 1;
}
