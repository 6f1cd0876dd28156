// Static timing analysis of a levelled netlist: latest arrival of every gate (forward), required time (backward, at nine tenths
// of the slowest path), slack, the worst slack, the total negative slack, and how many gates violate.
// usage: slack WIDTH LEVELS SEED
#include <cstdio>
#include <cstdlib>
#include <climits>
#include <vector>

__host__ __device__ inline unsigned mix(unsigned x)
{
    x ^= x >> 16; x *= 0x7feb352du;
    x ^= x >> 15; x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

// Three fan-ins from the four levels before; gates of low position are hubs.
__global__ void wire(int* fanin, int* delay, int width, int gates, unsigned seed)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= gates) return;
    int level = g / width;
    unsigned h = mix(g ^ mix(seed));
    delay[g] = 1 + h % 20;
    for (int k = 0; k < 3; ++k) {
        h = mix(h + 0x9e3779b9u);
        int back = 1 + h % (level < 4 ? (level > 0 ? level : 1) : 4);
        h = mix(h + 0x9e3779b9u);
        double u = h / 4294967296.0;
        int place = (int)(width * u * u);
        fanin[3 * g + k] = level == 0 ? -1 : (level - back) * width + place;
    }
}

__global__ void forward(const int* fanin, const int* delay, int* arrive, int width, int level)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= width) return;
    int g = level * width + p, at = 0;
    for (int k = 0; k < 3; ++k) {
        int f = fanin[3 * g + k];
        if (f >= 0) at = max(at, arrive[f]);
    }
    arrive[g] = at + delay[g];
}

__global__ void slowest(const int* arrive, int gates, int* most)
{
    int best = 0;
    for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < gates; g += gridDim.x * blockDim.x)
        best = max(best, arrive[g]);
    best = __reduce_max_sync(0xffffffffu, best);
    if ((threadIdx.x & 31) == 0) atomicMax(most, best);
}

__global__ void set_required(int* required, int gates, const int* most)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g < gates) required[g] = (int)((long long)*most * 9 / 10);
}

__global__ void backward(const int* fanin, const int* delay, int* required, int width, int level)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= width) return;
    int g = level * width + p, need = required[g] - delay[g];
    for (int k = 0; k < 3; ++k) {
        int f = fanin[3 * g + k];
        if (f >= 0) atomicMin(&required[f], need);
    }
}

struct Report { long long total; int worst, violating; };

__global__ void report(const int* arrive, const int* required, int* slack, int gates, Report* out)
{
    __shared__ long long total;
    __shared__ int worst, violating;
    if (threadIdx.x == 0) { total = 0; worst = INT_MAX; violating = 0; }
    __syncthreads();
    for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < gates; g += gridDim.x * blockDim.x) {
        int s = required[g] - arrive[g];
        slack[g] = s;
        atomicMin(&worst, s);
        if (s < 0) {
            atomicAdd((unsigned long long*)&total, (unsigned long long)(long long)s);
            atomicAdd(&violating, 1);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd((unsigned long long*)&out->total, (unsigned long long)total);
        atomicMin(&out->worst, worst);
        atomicAdd(&out->violating, violating);
    }
}

int main(int argc, char** argv)
{
    int width = argc > 1 ? atoi(argv[1]) : 1200, levels = argc > 2 ? atoi(argv[2]) : 200;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 7u;
    if (width < 1 || levels < 1) return 1;
    int gates = width * levels;
    int *fanin, *delay, *arrive, *required, *slack, *most;
    Report* out;
    cudaMalloc(&fanin, sizeof(int) * 3 * (size_t)gates);
    cudaMalloc(&delay, sizeof(int) * (size_t)gates);
    cudaMalloc(&arrive, sizeof(int) * (size_t)gates);
    cudaMalloc(&required, sizeof(int) * (size_t)gates);
    cudaMalloc(&slack, sizeof(int) * (size_t)gates);
    cudaMalloc(&most, sizeof(int));
    cudaMalloc(&out, sizeof(Report));
    cudaMemset(most, 0, sizeof(int));
    Report none = { 0, INT_MAX, 0 };
    cudaMemcpy(out, &none, sizeof none, cudaMemcpyHostToDevice);

    int all = (gates + 255) / 256, row = (width + 255) / 256;
    // the whole analysis as one graph: a launch per level costs too much
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    wire<<<all, 256, 0, stream>>>(fanin, delay, width, gates, seed);
    for (int l = 0; l < levels; ++l) forward<<<row, 256, 0, stream>>>(fanin, delay, arrive, width, l);
    slowest<<<264, 256, 0, stream>>>(arrive, gates, most);
    set_required<<<all, 256, 0, stream>>>(required, gates, most);
    for (int l = levels - 1; l > 0; --l) backward<<<row, 256, 0, stream>>>(fanin, delay, required, width, l);
    report<<<264, 256, 0, stream>>>(arrive, required, slack, gates, out);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);

    Report got;
    std::vector<int> host(gates);
    cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(host.data(), slack, sizeof(int) * (size_t)gates, cudaMemcpyDeviceToHost);
    unsigned long long sum = 0;
    for (int g = 0; g < gates; ++g) sum = sum * 31 + (unsigned)host[g];
    printf("worst %d total %lld violating %d of %d slacks %016llx\n", got.worst, got.total, got.violating, gates, sum);
    cudaFree(fanin);
    cudaFree(delay);
    cudaFree(arrive);
    cudaFree(required);
    cudaFree(slack);
    cudaFree(most);
    cudaFree(out);
    return 0;
}
