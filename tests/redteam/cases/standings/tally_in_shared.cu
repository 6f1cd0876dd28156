#include <cstdint>

// A league's table: three points for a win and one for a draw, then the difference of goals, then goals scored.
// Teams that are alike in all three share a place. A match of a team with itself was called off and counts nothing.

__global__ void clear(int* points, int* difference, int* scored, int* place, int teams) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= teams) return;
    points[t] = difference[t] = scored[t] = place[t] = 0;
}

__global__ void tally(const int* home, const int* away, const uint8_t* home_goals, const uint8_t* away_goals, int* points,
                      int* difference, int* scored, int matches, int teams) {
    const int ROOM = 4000;
    __shared__ int sums[3 * ROOM];
    int step = gridDim.x * blockDim.x;
    bool local = teams <= ROOM;
    if (local) {
        for (int k = threadIdx.x; k < 3 * teams; k += blockDim.x) sums[k] = 0;
        __syncthreads();
    }
    int* p = local ? sums : points;
    int* d = local ? sums + teams : difference;
    int* s = local ? sums + 2 * teams : scored;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < matches; i += step) {
        int h = home[i], a = away[i];
        int hg = home_goals[i], ag = away_goals[i];
        if (h == a) continue;
        if (hg == ag) {
            atomicAdd(&p[h], 1);
            atomicAdd(&p[a], 1);
        } else {
            atomicAdd(&p[hg > ag ? h : a], 3);
            atomicAdd(&d[h], hg - ag);
            atomicAdd(&d[a], ag - hg);
        }
        if (hg) atomicAdd(&s[h], hg);
        if (ag) atomicAdd(&s[a], ag);
    }
    if (local) {
        __syncthreads();
        for (int k = threadIdx.x; k < teams; k += blockDim.x) {
            if (p[k]) atomicAdd(&points[k], p[k]);
            if (d[k]) atomicAdd(&difference[k], d[k]);
            if (s[k]) atomicAdd(&scored[k], s[k]);
        }
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
