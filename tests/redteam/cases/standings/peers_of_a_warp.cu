#include <cstdint>

// A league's table: three points for a win and one for a draw, then the difference of goals, then goals scored.
// Teams that are alike in all three share a place. A match of a team with itself was called off and counts nothing.

__global__ void clear(int* points, int* difference, int* scored, int* place, int teams) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= teams) return;
    points[t] = difference[t] = scored[t] = place[t] = 0;
}

__device__ __forceinline__ void add_for(int team, int got, int ahead, int goals, int* points, int* difference, int* scored) {
    unsigned peers = __match_any_sync(0xffffffffu, team);
    int p = __reduce_add_sync(peers, got);
    int d = __reduce_add_sync(peers, ahead);
    int s = __reduce_add_sync(peers, goals);
    if (team >= 0 && (int)(threadIdx.x & 31) == __ffs(peers) - 1) {
        if (p) atomicAdd(&points[team], p);
        if (d) atomicAdd(&difference[team], d);
        if (s) atomicAdd(&scored[team], s);
    }
    __syncwarp();
}

__global__ void tally(const int* home, const int* away, const uint8_t* home_goals, const uint8_t* away_goals, int* points,
                      int* difference, int* scored, int matches, int teams) {
    int step = gridDim.x * blockDim.x;
    int lane = threadIdx.x & 31;
    // the whole warp goes on as long as one of its lanes has a match
    for (int first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < matches; first += step) {
        int i = first + lane;
        int h = -1, a = -1, hg = 0, ag = 0;
        if (i < matches && home[i] != away[i]) {
            h = home[i];
            a = away[i];
            hg = home_goals[i];
            ag = away_goals[i];
        }
        add_for(h, hg > ag ? 3 : hg == ag, hg - ag, hg, points, difference, scored);
        add_for(a, ag > hg ? 3 : hg == ag, ag - hg, ag, points, difference, scored);
    }
}

__global__ void rank_teams(const int* points, const int* difference, const int* scored, int* place, int teams) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= teams) return;
    int p = points[t], d = difference[t], s = scored[t];
    int ahead = 0;
    for (int o = 0; o < teams; o++) {
        int q = points[o], e = difference[o], r = scored[o];
        ahead += q > p || (q == p && (e > d || (e == d && r > s)));
    }
    place[t] = ahead + 1;
}

void standings(const int* home, const int* away, const uint8_t* home_goals, const uint8_t* away_goals, int* points,
               int* difference, int* scored, int* place, int matches, int teams) {
    int blocks = (teams + 255) / 256;
    clear<<<blocks, 256>>>(points, difference, scored, place, teams);
    tally<<<132, 256>>>(home, away, home_goals, away_goals, points, difference, scored, matches, teams);
    rank_teams<<<blocks, 256>>>(points, difference, scored, place, teams);
}
