// Longest warp float of a woven cloth. An end of the warp hangs on one of 16 shafts
// (threading), a pick presses one of 12 treadles (treadling), and the tie-up says which
// shafts a treadle lifts. Looking along one end, a float is a run of picks over which the
// end stays up or stays down. longest: length of the longest float of each end; begin: the
// pick at which it begins (the first such float where several are as long).
extern "C" __global__ void heddle(const int* threading, const int* treadling, const int* tieup,
                                  int* longest, int* begin, int ends, int picks)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= ends)
        return;
    int shaft = threading[e];
    int best = 0, at = 0, run = 0, start = 0, before = -1;
    for (int p = 0; p < picks; p++) {
        int up = (tieup[treadling[p]] >> shaft) & 1;
        if (up == before) {
            run++;
        } else {
            run = 1;
            start = p;
            before = up;
        }
        if (run > best) {
            best = run;
            at = start;
        }
    }
    longest[e] = best;
    begin[e] = at;
}
