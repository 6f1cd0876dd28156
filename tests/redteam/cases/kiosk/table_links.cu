// LRU stack distances of page traces by links: a warp per client finds the previous access to every page with a table of
// the latest accesses (and a match inside the 32 accesses at hand), then the distances are counted from the links.
#include <cuda_runtime.h>

#define FULL 0xffffffffu
#define WARPS 4

__global__ void find_links(const int* __restrict__ trace, int* __restrict__ link, int rows, int len)
{
    __shared__ int last[WARPS][64];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int client = blockIdx.x * WARPS + warp;
    if (client >= rows) return;
    const int* row = trace + (long long)client * len;
    last[warp][lane] = -1;
    last[warp][lane + 32] = -1;
    __syncwarp();
    for (int base = 0; base < len; base += 32) {
        int i = base + lane;
        int page = i < len ? row[i] : 64 + lane;
        unsigned same = __match_any_sync(FULL, page);
        unsigned before = same & ((1u << lane) - 1);
        if (i < len) {
            int p = before ? base + 31 - __clz(before) : last[warp][page];
            link[(long long)client * len + i] = p;
        }
        __syncwarp();
        {
            if (i < len && (31 - __clz(same)) == lane) last[warp][page] = i;
        }
        __syncwarp();
    }
}

__global__ void count_links(const int* __restrict__ link, int* __restrict__ dist, int rows, int len)
{
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= (long long)rows * len) return;
    int i = (int)(id % len);
    const int* row = link + (id - i);
    int p = row[i], answer = -1;
    if (p >= 0) {
        answer = 0;
        for (int j = p + 1; j < i; ++j) answer += row[j] < p;
    }
    dist[id] = answer;
}

static int* links = nullptr;
static long long room = 0;

extern "C" void kiosk(const int* trace, int* dist, int rows, int len)
{
    long long total = (long long)rows * len;
    if (total > room) {
        if (links) cudaFree(links);
        cudaMalloc(&links, total * sizeof(int));
        room = total;
    }
    find_links<<<(rows + WARPS - 1) / WARPS, 32 * WARPS>>>(trace, links, rows, len);
    count_links<<<(unsigned)((total + 127) / 128), 128>>>(links, dist, rows, len);
}
