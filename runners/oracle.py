"""What an original is asked, and every candidate of it with it: cases, input families and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runners import (
    all_infinite,
    asked,
    at_strides,
    beside_ends,
    beside_means,
    bitmaps,
    brinks,
    capacities,
    chains,
    common_offset,
    creeping,
    crowded,
    cycles,
    edge_paths,
    exact_floats,
    families,
    far_reach,
    following,
    full_counts,
    going_round,
    impulses,
    inputs,
    large_together,
    last_places,
    late_ties,
    logarithms,
    long_ends,
    longest,
    nan_signs,
    nested,
    one_less,
    opposed,
    opposite_rows,
    overlapping,
    promised_lengths,
    recipes,
    shaped_numbers,
    share_bands,
    share_ends,
    sizes,
    small_floats,
    staying,
    swinging,
    units,
    unlikely,
)
from runners.contents import Combination
from runners.original import LARGE
from runners.spec import (
    ACROSS_FAMILY,
    ALL,
    LASTING,
    MOVED,
    NONE,
    SOME,
    Work,
    each_across,
    moves,
)

# Elements of a case that is asked about with rows of a kind; what is asked with other seeds, too.
ROWS, AGAIN, TOPS, BINADES = 1 << 17, (1, 2), 4, 2
# Elements of a case that is light enough for any family.
LIGHT = 1 << 24
# Cases of a confirmation in which every size is drawn by itself.
SCATTERED = 12
# And those of whole parts, behind all other sizes.
DRAWN = 24
# Of them, those in which values of flags are tried that nobody declared; and when screening, how
# many such values.
FLAGGED, FEW_NAMED = 4, 3
# Scalar arguments that are tried on the other side of one.
MOST_ACROSS = 4


def combinations(work: Work, checks: str, seed: int) -> tuple[list[Combination], list[Combination]]:
    """Return what must be right (declared), and what is checked where the original can do it."""
    declared = [Combination(case.values, families.DECLARED, seed) for case in work.cases]
    full = checks == "confirm"

    weight = work.elements
    ordered = sorted((case.values for case in work.cases), key=weight)
    middle = next((case for case in ordered if weight(case) > 256), ordered[-1])
    extra: list[Combination] = []
    for case in ordered:
        light = weight(case) <= LIGHT
        chosen: tuple[str, ...] = (
            families.EVERY if case is middle or (full and light) else families.SCREEN
        )
        if weight(case) > LARGE and not full:
            chosen = (families.DECLARED, "mixed")
        extra += [
            Combination(case, family, seed) for family in chosen if family != families.DECLARED
        ]
    if not families.captured_work(work):
        # A scalar argument is a parameter, too: what ignores it is right for one value alone.
        # Limits show where values reach them.
        extra += [
            Combination({**middle, MOVED: float(many)}, family, seed)
            for many in moves(work)
            for family in (families.DECLARED, "large")
            if many in {SOME, ALL}
        ]
    if families.started(work):
        extra += [
            Combination(case, families.STARTED, seed)
            for case in ordered
            if case in (middle, ordered[-1])
        ]
    if families.ended(work):
        extra += [
            Combination(case, family, seed)
            for case in ordered
            for family in (families.ENDS, families.CLUSTERED, families.NEARLY_ENDS)
            if (case is middle and (full or family != families.NEARLY_ENDS))
            or (full and weight(case) <= LARGE)
        ]
        if full and weight(ordered[0]) <= LARGE:
            # Each array once at either end: what is read past a last row is read where the last
            # row is the longest, and at one end of all others.
            extra.append(Combination(ordered[0], families.ENDS, seed + 1))
    real = families.varied(work)
    if real:
        extra += [Combination(case, families.SHUFFLED, seed) for case in ordered]
    # Last, since an original may break at some of these.
    extra += _at_sizes(work, seed, full=full)
    if families.chosen(work) and weight(middle) <= LARGE:
        extra.append(Combination(middle, families.VAST, seed))
    if families.signed(work):
        # Behind all: where such numbers are indices or lengths the original breaks.
        extra.append(Combination(middle, families.SIGNED, seed))
        if full and ordered[-1] is not middle and weight(ordered[-1]) <= LARGE:
            extra.append(Combination(ordered[-1], families.SIGNED, seed))
    if not families.captured_work(work):
        extra += _seldom(work, seed, (middle, *ordered), full=full)
    scattered = _scattered(work, seed) if full else []
    # Behind all: what these sizes have to do with each other is the original's to know.
    extra += [Combination(case, families.DECLARED, seed) for case in scattered]
    extra += _named(work, seed, (middle, *ordered, *scattered[:FLAGGED]), full=full)
    if full and not families.captured_work(work):
        far = _far(work, [dict(one.case) for one in extra])
        extra += [Combination(case, families.ALIKE, seed) for case in capacities.crowded(work)]
        extra += [Combination(case, kind, seed) for case, kind in full_counts.asked(work)]
        extra += _tallied(work, seed, (middle, *ordered))
        extra += _shaped(work, seed, (middle, *ordered))
        extra += _in_shapes(work, seed, (middle, *ordered))
        extra += _repeating(work, seed, (middle, *ordered))
        extra += _masked(work, seed, (middle, *ordered))
        extra += _near_ends(work, seed, (middle, *ordered))
        extra += [
            Combination(case, kind, seed)
            for ask in (late_ties.asked, far_reach.asked, impulses.asked)
            for case, kind in ask(work)
        ]
        extra += _refilled(work, seed, (middle, *ordered))
        extra += _at_brinks(work, seed, (middle, *ordered))
        extra += [Combination(case, families.PLAIN, seed) for case in far]
        extra += [Combination(case, families.DECLARED, seed) for case in overlapping.cases(work)]
        extra += _drawn(work, seed)
        # Chance has its turn in cases that are light: the longest ones are none of these.
        extra += [
            *longest.combinations(work, seed),
            *opposed.combinations(work, seed),
            *staying.combinations(work, middle, seed),
            *long_ends.combinations(work, seed),
            *unlikely.combinations(work, seed),
            *opposite_rows.combinations(work, seed),
            *_in_few(work, seed, middle, [*declared, *extra]),
            *_by_recipe(work, seed, [*declared, *extra]),
            *(Combination(case, kind, seed) for case, kind in going_round.asked(work, middle)),
            *(Combination(case, kind, seed) for case, kind in swinging.asked(work, middle)),
            *(Combination(case, kind, seed) for case, kind in at_strides.asked(work)),
            *(Combination(case, kind, seed) for case, kind in large_together.asked(work)),
            *(Combination(case, kind, seed) for case, kind in all_infinite.asked(work, middle)),
        ]
    # Behind all: beyond what was declared the original need not define anything, and may crash.
    extra += [
        Combination(case, families.FOLLOWING, seed) for case in following.cases(work, full=full)
    ]
    pointers = [a for a in work.arguments if a.type.pointer]
    seen = any(inputs.rotatable(a) or a.init == "sorted" for a in pointers)
    if not real and (families.captured_work(work) or not seen):
        kept = {families.DECLARED, families.PLAIN, families.LONGEST}
        kept |= {families.STARTED, families.FILLERS}
        extra = [c for c in extra if c.family in kept]
    return declared, list({c.key: c for c in extra}.values())


def _far(work: Work, known: Sequence[Mapping[str, float]]) -> list[Mapping[str, float]]:
    """Return the cases beyond what kernels have room for, and the ends of what is promised."""
    found: list[Mapping[str, float]] = []
    for case in (*capacities.beyond(work), *promised_lengths.cases(work)):
        found += [case] if case not in known and case not in found else []
    return found


def _by_recipe(work: Work, seed: int, known: Sequence[Combination]) -> list[Combination]:
    """Return what is checked with contents that chance makes up, in cases that are asked anyway."""
    cases = [one.case for one in known]
    return [Combination(case, kind, seed) for case, kind in recipes.asked(work, seed, cases)]


def _in_few(
    work: Work, seed: int, middle: Mapping[str, float], known: Sequence[Combination]
) -> Iterator[Combination]:
    """Yield what few originals are asked: repeated words, shares of one size, chains."""
    for turn, (case, kind) in enumerate(cycles.asked(work, [one.case for one in known])):
        yield Combination(case, kind, seed + turn)
    yield from (Combination(case, kind, seed) for case, kind in share_bands.asked(work))
    for case in crowded.asked(work, middle):
        for turn in range(crowded.TURNS):
            yield Combination(case, families.CROWDED_INFINITIES, seed + turn)
    for ask in (chains.asked, one_less.asked):
        yield from (Combination(case, kind, seed) for case, kind in ask(work, middle))


def _scattered(work: Work, seed: int) -> list[Mapping[str, float]]:
    """Return cases in which sizes have nothing to do with each other, or too much."""
    found = [case.values for case in sizes.scattered(work, seed, SCATTERED)]
    found += [case.values for case in sizes.near_pairs(work, seed)]
    thin = [] if families.captured_work(work) else sizes.thin(work)
    return [*found, *(case for case in thin if case not in found)]


def _two(
    work: Work, cases: Sequence[Mapping[str, float]], most: int
) -> Iterator[Mapping[str, float]]:
    """Yield the middle case, which is the first, and the largest of so many elements.

    Behind the first all cases follow, from the lightest on.
    """
    middle, *ordered = cases
    fit = [case for case in ordered if work.elements(case) <= most]
    yield middle
    yield from (case for case in fit[-1:] if case != middle)


def _seldom(
    work: Work, seed: int, cases: Sequence[Mapping[str, float]], *, full: bool
) -> Iterator[Combination]:
    """Yield what few originals can be asked; in a confirmation in the largest light case, too.

    The cases are a middle one and then all, from the lightest on.
    """
    middle, *_ = cases
    found = moves(work)
    if NONE in found:
        # There an original may divide by zero, and use what comes of it as an index.
        yield Combination({**middle, MOVED: float(NONE)}, families.DECLARED, seed)
    if not full:
        return
    if asked.ZERO in work.asks:
        # What is multiplied by zero, and may be NaN, is not looked at.
        yield Combination({**middle, MOVED: float(NONE)}, "nan", seed)

    if LASTING in found:
        # What is remembered longer than a part that is worked on by itself: of numbers as they are,
        # and of a few large ones with nothing behind them.
        for case in _two(work, cases, LIGHT):
            for family in (families.DECLARED, "one-hot"):
                yield Combination({**case, MOVED: float(LASTING)}, family, seed)
    # The larger of a number and its part is the number only for a part below one.
    for case in each_across(work, middle)[:MOST_ACROSS]:
        yield Combination(case, ACROSS_FAMILY, seed)
    if {asked.NAN, asked.INFINITY} & {*work.asks}:
        # NaN and infinities are its own to make something of.
        for case in _two(work, cases, LARGE):
            for family in sorted(families.ASKED):
                yield Combination(case, family, seed)
    if asked.NAN in work.asks and families.chosen(work):
        yield Combination(middle, families.NAN_BEHIND, seed)


def _masked(work: Work, seed: int, cases: Sequence[Mapping[str, float]]) -> Iterator[Combination]:
    """Yield what is checked with infinities in arrays that may hold some, of either sign by turns.

    The cases are a middle one and then all, from the lightest on. Which part of a row comes last
    changes where there are more blocks than are resident.
    """
    if not work.infinite:
        return
    for turn in (0, 1):
        yield Combination(cases[0], families.MASKED, seed + turn)
        for case in _two(work, cases, LIGHT):
            yield Combination(case, families.MASKED_ROWS, seed + turn)


def _near_ends(
    work: Work, seed: int, cases: Sequence[Mapping[str, float]]
) -> Iterator[Combination]:
    """Yield what is checked with a NaN at an end of rows, and with floats a few last places apart.

    The cases are a middle one and then all, from the lightest on.
    """
    yield from _seldom_drawn(work, seed, cases[0])
    yield from (
        Combination(case, families.COMMON_OFFSET, seed)
        for case in common_offset.cases(work, cases[0])
    )
    for ask in (creeping.cases, beside_means.cases):
        yield from (Combination(case, kind, seed) for case, kind in ask(work, cases[0]))
    if not families.chosen(work):
        return
    if asked.CHOICE in work.calls:
        for case in _two(work, cases, LARGE):
            yield from (Combination(case, family, seed) for family in sorted(families.NAN_ENDS))
    if work.precise and asked.EXPONENTIAL not in work.calls and last_places.asked(work):
        yield Combination(cases[0], families.LAST_PLACES, seed)


def _seldom_drawn(work: Work, seed: int, middle: Mapping[str, float]) -> Iterator[Combination]:
    """Yield what is checked with floats that are seldom drawn: near an end, of an odd sign."""
    if nan_signs.asked(work):
        yield Combination(middle, families.NAN_BELOW, seed)
    if share_ends.asked(work):
        yield Combination(middle, families.SHARE_ENDS, seed)
    yield from (Combination(case, kind, seed) for case, kind in logarithms.asked(work))


def _refilled(work: Work, seed: int, cases: Sequence[Mapping[str, float]]) -> Iterator[Combination]:
    """Yield what is checked with floats that were declared to be all the same, and are not.

    The cases are a middle one and then all, from the lightest on.
    """
    if not families.fillers(work):
        return
    for case in _two(work, cases, LIGHT):
        for family in (families.FILLERS, families.FILLERS_MIXED):
            yield Combination(case, family, seed)


def _drawn(work: Work, seed: int) -> Iterator[Combination]:
    """Yield what is checked at sizes that are drawn in whole parts, every third time mixed."""
    for number, case in enumerate(sizes.drawn(work, seed, DRAWN)):
        family = "mixed" if number % 3 == 2 else families.DECLARED
        yield Combination(case.values, family, seed)


def _tallied(work: Work, seed: int, cases: Sequence[Mapping[str, float]]) -> Iterator[Combination]:
    """Yield what is checked where whole numbers may be counted: ties, and one value nearly alone.

    The cases are a middle one and then all, from the lightest on.
    """
    if not families.tallied(work):
        return
    yield from (Combination(case, families.HALVES, seed) for case in _two(work, cases, LIGHT))
    for long in capacities.mostly(work):
        yield Combination(long, families.MOSTLY, seed)


def _shaped(work: Work, seed: int, cases: Sequence[Mapping[str, float]]) -> Iterator[Combination]:
    """Yield what is checked with values that are high at odd places, fall, or are small.

    The cases are a middle one and then all, from the lightest on; it is checked in the first and in
    the largest that is not large. Where samples may be taken of values, sizes are powers of two
    there: samples that are a share of a row apart then miss all odd places.
    """
    floats = families.chosen(work)
    if not floats and not families.tallied(work):
        return
    middle, *ordered = cases
    for family in (families.ALTERNATING, families.FALLING, families.THOUSANDTH):
        if family == families.THOUSANDTH and not floats:
            continue
        yield Combination(middle, family, seed)
        alternates = family == families.ALTERNATING
        every = [sizes.even(work, case) if alternates else dict(case) for case in ordered]
        fit = [case for case in every if 0 < sizes.elements(work, case) <= LARGE]
        yield from (Combination(case, family, seed) for case in fit[-1:])
    if floats:
        yield Combination(middle, small_floats.named(small_floats.USUAL), seed)
        yield Combination(middle, families.SIGNED_ZEROS, seed)
        # What is not read may hold anything: more of it does, at other places.
        yield from (Combination(middle, families.INFINITE, seed + turn) for turn in AGAIN)
        if work.tops:
            yield from (Combination(middle, families.TOPS, seed + turn) for turn in range(TOPS))
        if asked.ROUNDING in work.asks:
            # Each number of the text has a turn beside the powers of two.
            turns = range(BINADES)
            yield from (Combination(middle, families.BINADES, seed + turn) for turn in turns)
        if exact_floats.below_normal(work):
            yield Combination(middle, exact_floats.BELOW, seed)


def _repeating(
    work: Work, seed: int, cases: Sequence[Mapping[str, float]]
) -> Iterator[Combination]:
    """Yield what is checked with rows that mirror themselves, and with words of no bits and of all.

    Where something is longer than in the middle case, which is the first, they are seen from
    further off, and more is counted.
    """
    middle = cases[0]
    pointers = [a for a in work.arguments if a.type.pointer and a.role != "output"]
    kinds = [families.MIRRORED] if any(map(inputs.rotatable, pointers)) else []
    kinds += [families.BITMAPS] if any(True for _ in bitmaps.wide(work)) else []
    far = [
        size.values
        for size in sizes.undeclared(work, limit=10, large=11, between=2)
        if work.elements(size.values) <= ROWS
        and any(value >= 2 * middle.get(name, value) > 0 for name, value in size.values.items())
    ]
    for kind in kinds:
        yield from (Combination(case, kind, seed) for case in (middle, *far))
    for turn in range(units.turns(work)):
        yield from (Combination(c, families.UNITS, seed + turn) for c in units.cases(work, middle))


def _in_shapes(
    work: Work, seed: int, cases: Sequence[Mapping[str, float]]
) -> Iterator[Combination]:
    """Yield what is checked where whole numbers are in shapes that chance does not make.

    The cases are a middle one and then all, from the lightest on.
    """
    middle, *_ = cases
    if shaped_numbers.linked(work):
        yield Combination(middle, families.BEFORE, seed)
        yield Combination(middle, families.AFTER, seed)
    yield from (Combination(c, kind, seed) for c, kind in edge_paths.asked(work, middle))
    if families.ended(work):
        for case in _two(work, cases, LIGHT):
            yield Combination(case, families.LATE, seed)
    for turn in range(shaped_numbers.mazes(work, middle)):
        yield Combination(middle, families.MAZE, seed + turn)
    for case in (middle, *capacities.longer_rows(work)):
        for turn in range(nested.turns(work, case)):
            yield Combination(case, families.NESTED, seed + turn)


def _at_brinks(
    work: Work, seed: int, cases: Sequence[Mapping[str, float]]
) -> Iterator[Combination]:
    """Yield what is checked where whole numbers are beside an end: few of a wide range, or all.

    The cases are a middle one and then all, from the lightest on; it is checked in the first and in
    the largest that is not large, in which there are more steps up to the end.
    """
    for case in _two(work, cases, LARGE):
        for turn in beside_ends.turns(work, seed, alike=case != cases[0]):
            yield Combination(case, families.BESIDE_ENDS, turn)
        for turn in range(brinks.turns(work, case)):
            yield Combination(case, families.BRINK, seed + turn)


def _named(
    work: Work, seed: int, cases: Sequence[Mapping[str, float]], *, full: bool
) -> Iterator[Combination]:
    """Yield what is checked at values that the original tells apart and nobody declared.

    In one case, and in another one with other contents; in a confirmation in all small ones.
    """
    for name, every in work.named:
        for value in every if full else every[:FEW_NAMED]:
            first, *rest = ({**case, name: float(value)} for case in cases)
            yield Combination(first, families.DECLARED, seed)
            unlike = [case for case in rest if case != first and work.elements(case) <= 1 << 20]
            unlike = unlike or [first]
            for case in unlike if full else unlike[:1]:
                yield Combination(case, "mixed", seed)


def _at_sizes(work: Work, seed: int, *, full: bool) -> Iterator[Combination]:
    """Yield what is checked at sizes that nobody declared."""
    many = {"limit": 10, "large": 11, "between": 2} if full else {"limit": 4, "large": 2}
    huge = 0
    for size in sizes.undeclared(work, **many):
        weight = work.elements(size.values)
        # An answer of many millions of elements takes a second.
        huge += weight > LARGE
        if weight > LARGE and huge > (4 if full else 1):
            continue
        yield Combination(size.values, families.DECLARED, seed)
        if weight > (LARGE if full else 1 << 20):
            continue
        yield Combination(size.values, "mixed", seed)
        if full and families.ended(work):
            # Where rows are longest their sums are largest.
            yield Combination(size.values, families.ENDS, seed)
