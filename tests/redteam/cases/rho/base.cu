#include <cuda_runtime.h>

// Where each node of a functional graph ends up: the steps until a cycle, the cycle's length and
// its least node.
__global__ void follow(const int* next, int* tail, int* cycle, int* least, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    // the cycle's length, after Brent
    int power = 1;
    int length = 1;
    int slow = i;
    int fast = next[i];
    while (slow != fast) {
        if (power == length) {
            slow = fast;
            power *= 2;
            length = 0;
        }
        fast = next[fast];
        ++length;
    }

    // two walkers that far apart meet where the cycle begins
    slow = i;
    fast = i;
    for (int k = 0; k < length; ++k) fast = next[fast];
    int steps = 0;
    while (slow != fast) {
        slow = next[slow];
        fast = next[fast];
        ++steps;
    }

    int low = slow;
    for (int node = next[slow]; node != slow; node = next[node]) low = min(low, node);
    tail[i] = steps;
    cycle[i] = length;
    least[i] = low;
}

void rho(const int* next, int* tail, int* cycle, int* least, int n)
{
    follow<<<(n + 127) / 128, 128>>>(next, tail, cycle, least, n);
}
