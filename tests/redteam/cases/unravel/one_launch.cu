// Unravels a tangle of threads: knots are chained by their next knot, every chain ends in a knot that is its own next.
// For every knot: the end of its chain and the length of the way there (unsigned, modulo 2^32), by pointer jumping.
//     unravel KNOTS CHAINS LONGEST SEED        LONGEST: largest length between two knots
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
#include <algorithm>
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                             \
    do {                                                                        \
        cudaError_t e_ = (call);                                                \
        if (e_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));         \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

constexpr int THREADS = 256;

struct Link {
    unsigned next, length;
};

__global__ void jumps(Link* from, Link* to, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (long long reach = 1; reach < n; reach *= 2) {
        for (long long i = grid.thread_rank(); i < n; i += grid.size()) {
            Link mine = from[i];
            Link beyond = from[mine.next];
            to[i] = Link{beyond.next, mine.length + beyond.length};
        }
        grid.sync();
        Link* swap = from;
        from = to;
        to = swap;
    }
}

__global__ void split(const Link* links, unsigned* ends, unsigned* lengths, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    ends[i] = links[i].next;
    lengths[i] = links[i].length;
}

static unsigned long long state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((state >> 33) % below);
}

int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    int chains = argc > 2 ? atoi(argv[2]) : 5;
    unsigned longest = argc > 3 ? (unsigned)atoi(argv[3]) : 900;
    state = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    if (n < 1 || chains < 1 || longest < 1 || longest > 1000000000u) {
        fprintf(stderr, "usage: unravel KNOTS CHAINS LONGEST SEED\n");
        return 2;
    }

    // a random order of the knots, cut at chains - 1 random places
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    for (int i = n - 1; i > 0; i--)
        std::swap(order[i], order[draw(i + 1)]);
    std::vector<char> cut(n, 0);
    cut[n - 1] = 1;
    for (int c = 1; c < chains; c++)
        cut[draw(n)] = 1;
    std::vector<Link> links(n);
    for (int p = 0; p < n; p++)
        links[order[p]] = cut[p] ? Link{order[p], 0u} : Link{order[p + 1], 1 + draw(longest)};

    Link *a, *b;
    unsigned *ends, *lengths;
    CHECK(cudaMalloc(&a, n * sizeof(Link)));
    CHECK(cudaMalloc(&b, n * sizeof(Link)));
    CHECK(cudaMalloc(&ends, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&lengths, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(a, links.data(), n * sizeof(Link), cudaMemcpyHostToDevice));

    int blocks = (n + THREADS - 1) / THREADS;
    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, jumps, THREADS, 0));
    int grid = std::min(blocks, processors * resident);
    void* arguments[] = {&a, &b, &n};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(jumps), dim3(grid), dim3(THREADS), arguments, 0, 0));
    for (long long reach = 1; reach < n; reach *= 2)
        std::swap(a, b);
    split<<<blocks, THREADS>>>(a, ends, lengths, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));

    std::vector<unsigned> end(n), length(n);
    CHECK(cudaMemcpy(end.data(), ends, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(length.data(), lengths, n * sizeof(unsigned), cudaMemcpyDeviceToHost));

    unsigned long long mix = 0;
    for (int i = 0; i < n; i++)
        mix = mix * 1000003ull + end[i] * 31ull + length[i];
    printf("%d knots, first ends at %u after %u, mix %016llx\n", n, end[0], length[0], mix);
    CHECK(cudaFree(ends));
    CHECK(cudaFree(lengths));
    return 0;
}
