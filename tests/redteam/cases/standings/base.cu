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
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < matches; i += step) {
        int h = home[i], a = away[i];
        if (h == a) continue;
        int hg = home_goals[i], ag = away_goals[i];
        atomicAdd(&points[h], hg > ag ? 3 : hg == ag);
        atomicAdd(&points[a], ag > hg ? 3 : hg == ag);
        atomicAdd(&difference[h], hg - ag);
        atomicAdd(&difference[a], ag - hg);
        atomicAdd(&scored[h], hg);
        atomicAdd(&scored[a], ag);
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
