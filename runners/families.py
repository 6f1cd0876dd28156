"""Input families beyond the declared inputs: their names, and which workloads have use for them.

A kernel that is right on one bell curve may be wrong on everything else; public checkers that
test one distribution at one size miss faults this list was made from. What floats are then like is
in `runners.float_families`, whole numbers in `runners.whole_families`; `runners.variation` gives a
workload's inputs the structure of a family. Here are no arrays: who asks for a family and who reads
its results needs its name alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from runners import captured
from runners.cuda_types import Scalar
from runners.inputs import FREE, rotatable, shuffled
from runners.spec import Argument, Work

DECLARED = "declared"
# The same at sizes beyond what blocks, registers and shared memory hold.
PLAIN = "plain"
# The same as far out as a candidate has to be right (`runners.longest`).
LONGEST = "longest"
HALF_STEPS = "half-steps"
FAR = "far"
# The same near the end of the range: asked about where values are chosen and not computed with.
VAST = "vast"
# The one that has infinities among all else. For originals whose text asks for them
# (`runners.asked`): nothing but NaN, so that any row and any column is; and infinities alone.
INFINITE, ALL_NAN, INFINITIES = "special", "all-nan", "infinities"
ASKED = frozenset({ALL_NAN, INFINITIES})
# Many infinities of either sign, and few NaN behind them: for originals whose text asks for NaN.
# Who has the largest number there is goes on no further.
NAN_BEHIND = "nan-behind"
# NaN at the first place of some rows, and at the last: for originals that choose the number of a
# number and a NaN (`runners.nan_ends`).
NAN_FIRST, NAN_LAST = "nan-first", "nan-last"
NAN_ENDS = frozenset({NAN_FIRST, NAN_LAST})
# A NaN whose sign bit is set, as x86 makes of zero by zero (`runners.nan_signs`).
NAN_BELOW = "nan-below"
# Infinities of one sign in what an original compares, chooses and exponentiates
# (`runners.extremes`), and nothing else that is odd: here and there, and in long stretches.
MASKED, MASKED_ROWS = "masked", "masked-rows"
MASKS = frozenset({MASKED, MASKED_ROWS})
# One array of floats, by its number, or all of them, infinite throughout: for originals that begin
# at an infinity and only compare (`runners.all_infinite`). And those of which nothing but sums are
# made, where a size is one: there may be nothing to add.
ABOVE_ALL, BELOW_ALL, THROUGHOUT_ARRAYS = "all-infinite", "all-minus-infinite", 3
COMPARED = frozenset(
    f"{kind}{which}"
    for kind in (ABOVE_ALL, BELOW_ALL)
    for which in ("", *(f" {number}" for number in range(THROUGHOUT_ARRAYS)))
)
LONE = "lone-infinite"
THROUGHOUT = COMPARED | {LONE}
# Those whose values are not all finite, whatever an original makes of them.
NOT_FINITE = frozenset({INFINITE, "nan", NAN_BELOW, NAN_BEHIND, *ASKED, *NAN_ENDS})
# Near a common offset and a few of their last places apart: for originals that work in doubles
# (`runners.last_places`).
LAST_PLACES = "last-places"
# Near a common offset with digits to spare, every second row all the same: for originals that work
# in floats (`runners.common_offset`). Neighbours few last places apart: for those that work in
# doubles (`runners.creeping`); near which number stands behind.
COMMON_OFFSET, CREEPING = "common-offset", "creeping"
# Floats beside what whole numbers average, or sum up to (`runners.beside_means`): for the same;
# which range, and which array of floats, stand behind.
BESIDE_MEANS, BESIDE_SUMS = "beside-means", "beside-sums"
# All smaller up to a place, and equal from there on: for originals that name places of floats
# (`runners.late_ties`).
LATE_TIES = "late-ties"
# Zeros of both signs in most places: what orders bits puts one below the other.
SIGNED_ZEROS = "signed-zeros"
# Powers of two and the floats beside them, and multiples of them by numbers of the original's text,
# as the largest of their neighbours (`runners.binades`): for originals whose text asks for
# exponents, bits or whole numbers.
BINADES = "binades"
# Shares that are less than one by a few of their last places (`runners.share_ends`).
SHARE_ENDS = "share-ends"
# Of one array or the next, rows of small and of large numbers, and rows that are below zero
# throughout: for originals that take logarithms (`runners.logarithms`).
LOG_SIZES, LOG_BELOW = ("log-sizes 0", "log-sizes 1"), ("log-below 0", "log-below 1")
LOGARITHMS = frozenset({*LOG_SIZES, *LOG_BELOW})
# Doubles that are infinite as floats, and zero: for candidates that make floats of doubles
# (`runners.narrowed`, `runners.no_floats`).
BEYOND_FLOATS, BENEATH_FLOATS = "beyond-floats", "beneath-floats"
NO_FLOATS = frozenset({BEYOND_FLOATS, BENEATH_FLOATS})
# Finite numbers of which a few are beyond what their type holds, in sum: for originals whose text
# asks for infinities, which such a sum is and no element of it, and adds no floats itself.
TOPS = "tops"
# Zeros but for one large number at each end, and nothing that ends what is carried
# (`runners.far_reach`): for originals in which something may fade along rows.
REACHES = ("far-reach", "far-reach below")
# Zeros but for the first element of an array, or of each of its rows (`runners.impulses`): for the
# same where periods are short against rows.
IMPULSES = ("impulse", "impulses")
# Several infinities of one sign in a row of numbers (`runners.crowded`), shares that are all of one
# size (`runners.share_bands`), rows that repeat a word of whole numbers (`runners.cycles`).
CROWDED_INFINITIES, SHARE_BANDS, CYCLES = "crowded-infinities", "share-bands", "cycles"
BANDED = frozenset(
    f"{SHARE_BANDS} {band}{end}" for band in range(3) for end in ("", " low", " high")
)
# Families in which the original may overflow or meet NaN: where it does, nothing is promised.
STRESS = frozenset(
    {"large", FAR, VAST, SIGNED_ZEROS, TOPS, BINADES, SHARE_ENDS, CROWDED_INFINITIES, *BANDED}
    | {*NOT_FINITE, *MASKS, *THROUGHOUT, *LOGARITHMS, *NO_FLOATS, *REACHES, *IMPULSES}
)
# One number in every place; one whose sums are exact in any order at any length that is tried.
EQUAL, ALIKE = "equal", "power-of-two"
SCREEN = (DECLARED, "mixed", "integers")
EVERY = (
    DECLARED,
    "times-10",
    "shifted",
    "offset",
    "one-hot",
    "edges",
    HALF_STEPS,
    EQUAL,
    "sorted",
    "large",
    FAR,
    "integers",
    "special",
    "nan",
    "mixed",
)
# What a buffer that is added to may hold before: something else than its first contents.
STARTED = "started"
# Whole numbers that nothing was said of, half of them below zero.
SIGNED = "signed"
# Whole numbers at the ends of their range, whole arrays of them: where differences are largest, and
# what counts in fewer bits than its sums need runs over.
ENDS = "ends"
# The same but for a few at the other end: what is carried goes far there, and begins somewhere.
NEARLY_ENDS = "nearly-ends"
# Whole numbers of a declared range, some of them its ends and many multiples of a power of two
# or of a number of the original's text, or one less:
# what takes a value of the range for none loses it, and in a table by their last bits they meet.
CLUSTERED = "clustered"
# One array of whole numbers near one end of its range, and all others near the other, along sizes
# that are long (`runners.opposite_ends`); which array it is stands behind.
OPPOSITE = "opposite-ends"
# The same in ever longer rows, few of them (`runners.opposite_rows`), along a size whose
# name stands behind.
OPPOSITE_ROWS = "opposite-rows"
# One array of whole numbers with few events, which all others let through (`runners.early_events`);
# which array it is and what the events are stands behind.
EARLY = "early-event"
# All amounts near the last numbers of their ranges, or near the first ones, in large cases and in
# long rows; and rows that are mixtures of both ends, each another one (`runners.end_contents`).
FAR_ENDS, FULL_ENDS, DENSITIES = "far-ends", "full-ends", "densities"
# Few whole numbers of a wide range, one of them or all beside its end: what a counter hands on to
# its next word (`runners.brinks`).
BRINK = "brink"
# Whole numbers of which two are half a row each, or one is most of it: how counts are compared.
HALVES, MOSTLY = "halves", "mostly"
# Whole numbers that are one small number in each array: the same in all of them, and another one in
# each. Asked where a size is as long as it may be (`runners.full_counts`).
SAME, UNLIKE = "same", "unlike"
TALLIED = frozenset({HALVES, MOSTLY})
# The declared ones but for one element of each array: what is kept for contents that were only
# looked at here and there is taken for theirs (`runners.places.aside`).
NEARLY = "nearly"
# Low ones at even places and high ones at odd ones, as two channels beside each other are: every
# second, fourth or sixteenth is no sample of them.
ALTERNATING = "alternating"
# The largest first: what ends as soon as something is in order does so at once for sorted ones.
FALLING = "falling"
# So small that what is added against a division by zero counts, and steps of fixed point do.
THOUSANDTH = "thousandth"
# Rows that are the same from both ends but for a place near their middle (`runners.mirrored`).
MIRRORED = "mirrored"
# Words with none and with all of their bits set, in long stretches (`runners.bitmaps`).
BITMAPS = "bitmaps"
# Sets of bits, nearly full or nearly empty, with a pattern in what is left (`runners.bit_masks`).
BIT_MASKS = "bit-masks"
# A small factor beside numbers that are as large as they may be (`runners.units`).
UNITS = "units"
# Whole numbers beside the ends of their ranges, and an end itself late in each row
# (`runners.beside_ends`).
BESIDE_ENDS = "beside-ends"
# Keys that are all alike, more of them than elsewhere, and amounts that are near zero or at an end
# of their range (`runners.piles`).
PILED, PILED_MORE, PILED_LESS = "piled", "piled-more", "piled-less"
PILED_LAST, PILED_FIRST = "piled-last", "piled-first"
PILES = frozenset({PILED, PILED_MORE, PILED_LESS, PILED_LAST, PILED_FIRST})
# Three of four numbers alike, and flags that are nearly all set, or nearly none
# (`runners.nearly_piled`).
NEARLY_PILED, NEARLY_PILED_LOW = "nearly-piled", "nearly-piled-low"
NEARLY_PILES = frozenset({NEARLY_PILED, NEARLY_PILED_LOW})
# Whole numbers in shapes (`runners.shaped_numbers`): the place before or behind each element's own,
# a stretch at the end of each row that is alike, ways between walls, and brackets that nest.
BEFORE, AFTER, LATE, MAZE, NESTED = "before", "after", "late", "maze", "nested"
SHAPED = frozenset({BEFORE, AFTER, LATE, MAZE, NESTED})
# Whole numbers that advance by one step along each row, or across rows, and go round at the end of
# their range (`runners.going_round`).
GOING_ROUND, ROUND_ACROSS = "going-round", "going-round-across"
# Whole numbers that swing around the middle of their range along an axis (`runners.swings`), whose
# number stands behind, and of which one is most of a very long row (`runners.frequent`).
SWINGS, FREQUENT = "swings", "frequent"
# Whole numbers of which few are neighbours of the same, so that counts which others take off again
# are as large as they may be (`runners.isolated`); which numbers they are stands behind.
ISOLATED = "isolated"
# Whole numbers of a range whose end is a declared size, as far as that size goes elsewhere, and
# many of them up there (`runners.following`).
FOLLOWING = "following"
# Floats that are only read and were declared to be all the same, each another one: beside declared
# inputs, and beside mixed ones (`runners.fillers`).
FILLERS, FILLERS_MIXED = "fillers", "fillers-mixed"
REFILLED = frozenset({FILLERS, FILLERS_MIXED})
# Two arrays that are equal but for a place or two a row (`runners.twins`), numbers that come again
# at the far end of a row (`runners.recurring`), one key and high amounts in long rows
# (`runners.full_piles`), and multiples of a scalar (`runners.divisors`), whose name stands behind.
TWINS, RECURRING, FULL_PILES, MULTIPLES = "twins", "recurring", "full-piles", "multiples"
# Numbers that number theory knows, of a kind that stands behind (`runners.special_numbers`).
SPECIAL_NUMBERS = "special-numbers"
# The numbers of a candidate's own text, which stand behind (`runners.own_values`).
OWN_VALUES = "own-values"
# Rows with one hash by a candidate's own multiplier, which stands behind (`runners.colliding`).
COLLIDING = "colliding"
# Amounts that are all one number at an end of their range, but for few (`runners.near_ties`).
NEAR_TIES = "near-ties"
# Rows that no sum and no polynomial hash tells apart (`runners.balanced`).
BALANCED = "balanced"
# Places of a row that make chains, all else one number (`runners.chains`), and rows that are at an
# end of a range but for some elements beside it (`runners.one_less`).
CHAINS, ONE_LESS = "chains", "one-less"
# Places that lead on along all there are, at sizes as long as may be (`runners.long_chains`).
LONG_CHAINS = "long-chains"
# Contents that a search came to step by step; where it began and its changes stand behind
# (`runners.mutations`).
GUIDED = "guided"
# Arrays that lead on from each other, one step a round (`runners.derivations`); whose row is which
# stands behind.
DERIVATIONS = "derivations"
# Few small whole numbers times a large odd factor, along a variable whose name stands behind
# (`runners.scaled_numbers`): for candidates that decide by floats what others do by whole numbers.
SCALED = "scaled"
# Rows that all lead to one place, and other arrays at ends of their ranges (`runners.meeting`).
MEETING = "meeting"
# The largest of each line, or the smallest, at places that are equally far from each other
# (`runners.at_strides`); along which axis, and whose turn it is, stands behind.
AT_STRIDES = "at-strides"
# Keys that a factor of the candidate's text leads to one place of a table (`runners.one_slot`);
# the factor stands behind.
ONE_SLOT = "one-slot"
# Captured values in another order.
SHUFFLED = "shuffled"


def filler(argument: Argument) -> float | None:
    """Return what is in each place of an array of floats that is only read, if it is one number.

    None where there may be several, where it is below zero, and where there are no floats.
    """
    floats = any(one.scalar.kind == "f" for one in argument.type.fields)
    if not argument.type.pointer or argument.role != "input" or not floats:
        return None
    word, _, bounds = argument.init.partition(":")
    if word in {"zeros", "ones"}:
        return float(word == "ones")
    if word == "randint":
        with contextlib.suppress(ValueError):  # who makes the inputs says what is wrong there
            low, high = (int(part) for part in bounds.split(":"))
            return float(low) if high == low + 1 and low >= 0 else None
    return None


def fillers(work: Work) -> bool:
    """Tell whether there are floats that are only read and were declared to be all the same."""
    return any(filler(argument) is not None for argument in work.arguments)


def started(work: Work) -> bool:
    """Tell whether there is a buffer that is added to, whose first contents are all the same."""
    return any(adds(argument) for argument in work.arguments)


def signed(work: Work) -> bool:
    """Tell whether there are whole numbers that may be below zero, for all the workload says."""
    return any(
        argument.type.pointer
        and argument.role != "output"
        and any(signs(argument.init, one.scalar) for one in argument.type.fields)
        for argument in work.arguments
    )


def signs(init: str, scalar: Scalar) -> bool:
    """Tell whether a field holds whole numbers that may be below zero."""
    return scalar.kind == "i" and init == "normal"


def captured_work(work: Work) -> bool:
    """Tell whether contents are those of real launches."""
    return any(argument.init.partition(":")[0] == captured.WORD for argument in work.arguments)


def varied(work: Work) -> bool:
    """Tell whether there are captured values that may be in another order."""
    return any(shuffled(argument) and argument.role != "output" for argument in work.arguments)


def nearly(work: Work, case: Mapping[str, float]) -> int:
    """Return how long the longest array is of which one element may be another; 0 for none."""
    return max(
        (
            argument.elements(case)
            for argument in work.arguments
            if argument.type.pointer
            and argument.role != "output"
            and (rotatable(argument) or shuffled(argument))
        ),
        default=0,
    )


def chosen(work: Work) -> bool:
    """Tell whether floats without a range go in: something may be chosen from them."""
    return any(
        argument.type.pointer
        and argument.role != "output"
        and argument.init.partition(":")[0] in FREE
        and any(one.scalar.kind == "f" for one in argument.type.fields)
        for argument in work.arguments
    )


def adds(argument: Argument) -> bool:
    """Tell whether a buffer is added to, and its first contents are all the same or captured."""
    if argument.role != "inout":
        return False
    return argument.init.partition(":")[0] in {"zeros", "ones"} or shuffled(argument)


def tallied(work: Work) -> bool:
    """Tell whether there are whole numbers drawn at random: how often which is there may count."""
    return not captured_work(work) and any(True for _ in drawn(work))


def drawn(work: Work) -> Iterator[Argument]:
    """Yield arrays of whole numbers that are drawn at random, each by itself."""
    for argument in work.arguments:
        whole = argument.type.pointer and all(f.scalar.kind in "iu" for f in argument.type.fields)
        free = argument.init.partition(":")[0] in {*FREE, "randint"}
        if whole and free and argument.role != "output":
            yield argument


def ended(work: Work) -> bool:
    """Tell whether there are whole numbers of a declared range."""
    return any(True for _ in ranges(work))


def free(argument: Argument) -> bool:
    """Tell whether an array is of floats that may be any number of ordinary size."""
    floats = all(field.scalar.kind == "f" for field in argument.type.fields)
    word = argument.init.partition(":")[0]
    return argument.type.pointer and argument.role != "output" and floats and word in FREE


def ranges(work: Work) -> Iterator[tuple[Argument, int, int]]:
    """Yield arrays of whole numbers that have a range, with its first and last number."""
    for argument in work.arguments:
        word, _, bounds = argument.init.partition(":")
        plain = argument.type.pointer and all(f.scalar.kind in "iu" for f in argument.type.fields)
        if plain and word == "randint" and argument.role != "output":
            with contextlib.suppress(ValueError):  # who makes the inputs says what is wrong there
                low, high = (int(part) for part in bounds.split(":"))
                yield argument, low, high - 1
