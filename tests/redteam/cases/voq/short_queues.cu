// Simulates packet switches with virtual output queues that are matched by iSLIP, two rounds a slot.
//   voq PORTS SLOTS LOAD SWITCHES SEED
// In each slot each input of each switch gets a packet with a probability of LOAD per cent. A quarter of the packets
// go to output 0, the others anywhere. Then inputs and outputs are matched: each free output grants its turn to the
// first free input, from its pointer on, that has a packet for it; each input accepts the first output, from its
// pointer on, that granted it. Pointers move behind what was accepted, in the first round only. Each matched
// input sends a packet.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define ROUNDS 2

__host__ __device__ unsigned mix(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

// The output to which a packet goes that comes in this slot, or -1 where none comes.
__device__ int arriving(unsigned seed, int slot, int input, int ports, int load)
{
    unsigned draw = mix(mix(seed + slot) + input);
    if ((int)(draw % 100) >= load)
        return -1;
    unsigned where = mix(draw + 1);
    return where % 4 == 0 ? 0 : (where >> 8) % ports;
}

// queue[s][i][o]: packets at input i of switch s for output o
__global__ void arrive(unsigned short *queue, int *arrived, int *in_match, int *out_match, int ports, int slot, int load,
                       int switches, unsigned seed)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= switches * ports)
        return;
    int o = arriving(seed, slot, k, ports, load);
    if (o >= 0) {
        ++queue[(size_t)k * ports + o];
        ++arrived[k];
    }
    in_match[k] = -1;
    out_match[k] = -1;
}

__global__ void grant(const unsigned short *queue, const int *in_match, const int *out_match, const int *grant_at, int *granted,
                      int ports, int switches)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= switches * ports)
        return;
    int first = k / ports * ports, o = k % ports;
    granted[k] = -1;
    if (out_match[k] >= 0)
        return;
    for (int step = 0; step < ports; ++step) {
        int i = (grant_at[k] + step) % ports;
        if (in_match[first + i] < 0 && queue[(size_t)(first + i) * ports + o] > 0) {
            granted[k] = i;
            break;
        }
    }
}

__global__ void accept(const int *granted, int *in_match, int *out_match, int *grant_at, int *accept_at, int ports,
                       int round, int switches)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= switches * ports)
        return;
    int first = k / ports * ports, i = k % ports;
    if (in_match[k] >= 0)
        return;
    for (int step = 0; step < ports; ++step) {
        int o = (accept_at[k] + step) % ports;
        if (granted[first + o] == i) {
            in_match[k] = o;
            out_match[first + o] = i;
            if (round == 0) {
                accept_at[k] = (o + 1) % ports;
                grant_at[first + o] = (i + 1) % ports;
            }
            break;
        }
    }
}

__global__ void send(unsigned short *queue, const int *in_match, int *sent, int ports, int switches)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= switches * ports || in_match[k] < 0)
        return;
    --queue[(size_t)k * ports + in_match[k]];
    ++sent[k];
}

int main(int argc, char **argv)
{
    int ports = argc > 1 ? atoi(argv[1]) : 16;
    int slots = argc > 2 ? atoi(argv[2]) : 300;
    int load = argc > 3 ? atoi(argv[3]) : 85;
    int switches = argc > 4 ? atoi(argv[4]) : 24;
    unsigned seed = argc > 5 ? (unsigned)atoi(argv[5]) : 1;
    if (ports < 1 || slots < 0 || load < 0 || load > 100 || switches < 1)
        return 1;
    int inputs = switches * ports;
    size_t queues = (size_t)inputs * ports;
    unsigned short *queue;
    int *arrived, *sent, *in_match, *out_match, *granted, *grant_at, *accept_at;
    cudaMalloc(&queue, queues * sizeof(unsigned short));
    cudaMalloc(&arrived, inputs * sizeof(int));
    cudaMalloc(&sent, inputs * sizeof(int));
    cudaMalloc(&in_match, inputs * sizeof(int));
    cudaMalloc(&out_match, inputs * sizeof(int));
    cudaMalloc(&granted, inputs * sizeof(int));
    cudaMalloc(&grant_at, inputs * sizeof(int));
    cudaMalloc(&accept_at, inputs * sizeof(int));
    cudaMemset(queue, 0, queues * sizeof(unsigned short));
    cudaMemset(arrived, 0, inputs * sizeof(int));
    cudaMemset(sent, 0, inputs * sizeof(int));
    cudaMemset(grant_at, 0, inputs * sizeof(int));
    cudaMemset(accept_at, 0, inputs * sizeof(int));

    int blocks = (inputs + 127) / 128;
    for (int slot = 0; slot < slots; ++slot) {
        arrive<<<blocks, 128>>>(queue, arrived, in_match, out_match, ports, slot, load, switches, seed);
        for (int round = 0; round < ROUNDS; ++round) {
            grant<<<blocks, 128>>>(queue, in_match, out_match, grant_at, granted, ports, switches);
            accept<<<blocks, 128>>>(granted, in_match, out_match, grant_at, accept_at, ports, round, switches);
        }
        send<<<blocks, 128>>>(queue, in_match, sent, ports, switches);
    }

    std::vector<unsigned short> left(queues);
    std::vector<int> came(inputs), went(inputs), turns(inputs), choices(inputs);
    cudaMemcpy(left.data(), queue, queues * sizeof(unsigned short), cudaMemcpyDeviceToHost);
    cudaMemcpy(came.data(), arrived, inputs * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(went.data(), sent, inputs * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(turns.data(), grant_at, inputs * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(choices.data(), accept_at, inputs * sizeof(int), cudaMemcpyDeviceToHost);
    long long all_came = 0, all_went = 0, all_left = 0;
    int longest = 0;
    unsigned check = 2166136261u;
    for (int k = 0; k < inputs; ++k) {
        all_came += came[k];
        all_went += went[k];
        check = (check ^ turns[k]) * 16777619u;
        check = (check ^ choices[k]) * 16777619u;
    }
    for (size_t q = 0; q < queues; ++q) {
        all_left += left[q];
        longest = left[q] > longest ? left[q] : longest;
        check = (check ^ left[q]) * 16777619u;
    }
    printf("came %lld went %lld left %lld longest %d check %08x\n", all_came, all_went, all_left, longest, check);
    return 0;
}
