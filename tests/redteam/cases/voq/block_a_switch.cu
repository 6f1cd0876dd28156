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

// All slots of a switch, by one block.
// queue[s][i][o]: packets at input i of switch s for output o
__global__ void run_switch(int *all_queues, int *all_arrived, int *all_sent, int *all_grant_at, int *all_accept_at,
                           int ports, int slots, int load, unsigned seed)
{
    extern __shared__ int shared[];
    int *in_match = shared, *out_match = shared + ports, *granted = shared + 2 * ports;
    int first = blockIdx.x * ports;
    int *queue = all_queues + (size_t)first * ports;
    int *arrived = all_arrived + first, *sent = all_sent + first;
    int *grant_at = all_grant_at + first, *accept_at = all_accept_at + first;
    for (int slot = 0; slot < slots; ++slot) {
        for (int i = threadIdx.x; i < ports; i += blockDim.x) {
            int o = arriving(seed, slot, first + i, ports, load);
            if (o >= 0) {
                ++queue[(size_t)i * ports + o];
                ++arrived[i];
            }
            in_match[i] = -1;
            out_match[i] = -1;
        }
        __syncthreads();
        for (int round = 0; round < ROUNDS; ++round) {
            for (int o = threadIdx.x; o < ports; o += blockDim.x) {
                int to = -1;
                if (out_match[o] < 0) {
                    int i = grant_at[o];
                    for (int step = 0; step < ports; ++step) {
                        if (in_match[i] < 0 && queue[(size_t)i * ports + o] > 0) {
                            to = i;
                            break;
                        }
                        i = i + 1 < ports ? i + 1 : 0;
                    }
                }
                granted[o] = to;
            }
            __syncthreads();
            for (int i = threadIdx.x; i < ports; i += blockDim.x) {
                if (in_match[i] >= 0)
                    continue;
                int o = accept_at[i];
                for (int step = 0; step < ports; ++step) {
                    if (granted[o] == i) {
                        in_match[i] = o;
                        out_match[o] = i;
                        if (round == 0) {
                            accept_at[i] = (o + 1) % ports;
                            grant_at[o] = (i + 1) % ports;
                        }
                        break;
                    }
                    o = o + 1 < ports ? o + 1 : 0;
                }
            }
            __syncthreads();
        }
        for (int i = threadIdx.x; i < ports; i += blockDim.x) {
            if (in_match[i] >= 0) {
                --queue[(size_t)i * ports + in_match[i]];
                ++sent[i];
            }
        }
    }
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
    int *queue, *arrived, *sent, *grant_at, *accept_at;
    cudaMalloc(&queue, queues * sizeof(int));
    cudaMalloc(&arrived, inputs * sizeof(int));
    cudaMalloc(&sent, inputs * sizeof(int));
    cudaMalloc(&grant_at, inputs * sizeof(int));
    cudaMalloc(&accept_at, inputs * sizeof(int));
    cudaMemset(queue, 0, queues * sizeof(int));
    cudaMemset(arrived, 0, inputs * sizeof(int));
    cudaMemset(sent, 0, inputs * sizeof(int));
    cudaMemset(grant_at, 0, inputs * sizeof(int));
    cudaMemset(accept_at, 0, inputs * sizeof(int));

    run_switch<<<switches, 128, 3 * ports * sizeof(int)>>>(queue, arrived, sent, grant_at, accept_at, ports, slots,
                                                          load, seed);

    std::vector<int> left(queues), came(inputs), went(inputs), turns(inputs), choices(inputs);
    cudaMemcpy(left.data(), queue, queues * sizeof(int), cudaMemcpyDeviceToHost);
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
