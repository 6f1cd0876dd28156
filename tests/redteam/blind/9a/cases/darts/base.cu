// Darts, one leg of 501 a player: every byte is one dart as the camera reports it (bits 0-4 the segment, 21 for the
// bull, bits 6-7 the ring: 0 a miss, 1 single, 2 double, 3 treble). A leg has to end on a double; a visit of three
// darts that leaves less than two, or nothing without a double, is bust and its score does not count.
#include <cuda_runtime.h>
#include <cstdint>

constexpr int kStart = 501;

__device__ int dart_score(uint8_t dart)
{
    int segment = dart & 31;
    int ring = dart >> 6;
    if (segment == 21)
        return ring == 3 ? 0 : 25 * ring;       // the bull has no treble
    return segment > 21 ? 0 : segment * ring;
}

// thrown: darts really thrown; left: what remains (0: the leg is won); busts: visits lost
__global__ void darts(const uint8_t* darts_in, int* thrown, int* left, int* busts, int players, int n)
{
    int player = blockIdx.x * blockDim.x + threadIdx.x;
    if (player >= players)
        return;
    const uint8_t* in = darts_in + (size_t)player * n;
    int remaining = kStart;
    int used = 0;
    int bust = 0;
    for (int visit = 0; visit < n && remaining > 0; visit += 3) {
        int before = remaining;
        for (int k = 0; k < 3 && visit + k < n; ++k) {
            uint8_t dart = in[visit + k];
            int after = remaining - dart_score(dart);
            ++used;
            if (after == 0 && (dart >> 6) == 2) {
                remaining = 0;
                break;
            }
            if (after < 2) {
                remaining = before;
                ++bust;
                break;
            }
            remaining = after;
        }
    }
    thrown[player] = used;
    left[player] = remaining;
    busts[player] = bust;
}
