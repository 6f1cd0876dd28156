"""Which values of a whole-number argument an original's own text tells apart.

A flag that is declared as 0 and 1 may have a third way in the code: what is right for the declared
ones may be wrong there, and no size shows it. This reads the text as tokens and asks for nothing
that it does not name: constants that the argument is compared with, cases of a switch, and one that
none of them is where there is an `else` for it. It is a guess about strangers' text: it never
raises, takes a bounded time, and finds nothing rather than too much.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from runners import gates
from runners.text import CLOSES, GOES_ON, LONGEST, NAME, ValuedText, plain_name

# Tokens looked at, pairs of function and name, and values found of an argument: no more than these.
STEPS, MOST_NAMES, MOST_VALUES = 200_000, 24, 12
# Residues of a small number are all tried, of a large one the last: products are largest there.
FEW_RESIDUES, LARGE_MODULUS = 4, 1 << 16
LARGEST = 1 << 32
# Operators before a constant that it belongs to, and so many of them with constants in a row.
_BINDS, MOST_COMPUTED = frozenset({"*", "/", "%", "-", "<<", ">>", ".", "->", "::"}), 6

# What a text does with values that it does not mean to be given.
_FAILS = frozenset(
    {"exit", "_Exit", "abort", "assert", "throw", "trap", "__trap", "__builtin_trap", "__assume"}
    | {"__builtin_unreachable", "unreachable", "printf", "fprintf", "cerr", "perror"}
)


class _Enough(Exception):  # noqa: N818 - no error: what was found so far is the answer
    """So many tokens were looked at that this text is given up."""


@dataclass
class _Seen:
    """How a text tells values of one argument apart."""

    equal: list[int] = field(default_factory=list)
    # Constants of alternatives behind which there is one more, for none of them.
    chains: list[frozenset[int]] = field(default_factory=list)
    truth: bool = False
    moduli: list[int] = field(default_factory=list)
    masks: list[int] = field(default_factory=list)
    # The last number on the one side, the first on the other.
    edges: list[tuple[int, int]] = field(default_factory=list)
    # The same wherever it is compared, and be it to refuse it.
    sides: list[tuple[int, int]] = field(default_factory=list)

    def every(self) -> frozenset[int]:
        """Return every number that is named for it, and what is next to one."""
        found = {*self.equal, *((0, 1) if self.truth else ()), *self.masks}
        for chain in self.chains:
            found |= {*chain, max(chain) + 1}
        for pair in (*self.edges, *self.sides):
            found |= {*pair}
        return frozenset(found)

    def untried(self, declared: frozenset[int]) -> list[int]:
        """Return a value for each way that no declared value goes."""
        tried = sorted(declared)

        def one_of(goes: Iterable[object], otherwise: int) -> None:
            """Add a value unless one goes that way."""
            if len(tried) < len(declared) + MOST_VALUES and not any(goes):
                tried.append(otherwise)

        for constant in self.equal:
            one_of([v == constant for v in tried], constant)
        for constant in self.equal:
            one_of([v != constant for v in tried], 0 if constant else 1)
        for chain in self.chains:
            one_of([v not in chain for v in tried], max(chain) + 1)
        if self.truth:
            one_of([v == 0 for v in tried], 0)
            one_of(tried, 1)
        for modulus in self.moduli:
            few = range(modulus if modulus <= FEW_RESIDUES else 0)
            for rest in [*few, *([modulus - 1] if modulus >= LARGE_MODULUS else [])]:
                one_of([v % modulus == rest for v in tried], rest)
        for mask in self.masks:
            one_of([v & mask for v in tried], mask)
            one_of([not v & mask for v in tried], 0)
        for below, above in self.edges:
            if below >= 0:
                one_of([v <= below for v in tried], below)
            one_of([v >= above for v in tried], above)
        return [v for v in dict.fromkeys(tried) if v not in declared and abs(v) < LARGEST]


def undeclared(
    source: str, symbol: str, declared: Mapping[int, frozenset[int]]
) -> dict[int, tuple[int, ...]]:
    """Return further values of a function's arguments by position, given the declared ones.

    >>> text = "void f(int k) { if (k == 0) a(); else if (k == 1) b(); else c(); }"
    >>> undeclared(text, "f", {0: frozenset({0, 1})})
    {0: (2,)}
    """
    if len(source) > LONGEST:
        return {}
    found = {at: _values(source, symbol, at, known) for at, known in declared.items()}
    return {at: values for at, values in found.items() if values}


@lru_cache(maxsize=64)
def compared(source: str, names: frozenset[str]) -> frozenset[int]:
    """Return the numbers that variables are compared with anywhere, and those next to them.

    Of constants that they equal those, and one that none of them is where something is left for it.

    >>> text = "int main() { if (way < 0 || way > 3) return 2; run<<<1, 1>>>(way); }"
    >>> text += "void run(int k) { if (k == 1) f(); else g(); }"
    >>> sorted(compared(text, frozenset({"way"})))
    [-1, 0, 1, 2, 3, 4]
    """
    return frozenset() if len(source) > LONGEST else _text(source).everywhere(names).every()


@lru_cache(maxsize=64)
def of_argument(source: str, symbol: str, position: int) -> frozenset[int]:
    """Return the numbers that a function's argument is compared with, and those next to them.

    There, and where it is passed on.

    >>> text = "constexpr int L = 26; void f(const int* x, int n) { if (n <= L) return; g(x, n); }"
    >>> text += "void g(const int* x, int m) { if (m % 4 == 0) h(x); }"
    >>> sorted(of_argument(text, "f", 1)), sorted(of_argument(text, "f", 0))
    ([26, 27], [])
    """
    if len(source) > LONGEST:
        return frozenset()
    return _text(source).seen(plain_name(symbol), position).every()


@lru_cache(maxsize=8)
def numbers(source: str) -> frozenset[int]:
    """Return the whole numbers of a text: literals, constants, and what comes of some in a row.

    Macros and constants may be computed (`runners.gates`). And what as many bits hold as something
    is shifted by, from eight on: two words in one.

    >>> sorted(numbers("const int m = 8; float s[4 * m]; if (n > 1 << 12) f(1.5f, 3);"))
    [1, 3, 4, 8, 12, 32, 4096]
    >>> sorted(numbers("last = start << 16 | v;"))
    [16, 65536]
    >>> sorted(numbers("i = t * (24u * 26u - 11u) % n;"))
    [11, 24, 26, 613, 624]
    """
    if len(source) > LONGEST:
        return frozenset()
    text = _text(source)
    # To read all that is computed takes longer than what has a name.
    named = {one for one in gates.named(source).values() if gates.LEAST <= one <= gates.MOST}
    found = {*text.constants.values(), *named}
    for at, word in enumerate(text.tokens[: text.count]):
        one = text.number(word)
        if one is None or word.startswith("'"):
            continue
        found.add(one)
        if text.tokens[at - 1] in {"<<", ">>"} and 8 <= one < 32:
            found.add(1 << one)
        other = text.number(text.tokens[at + 2])
        if other is not None and text.tokens[at + 1] == "*":
            found.add(one * other)
        elif other is not None and text.tokens[at + 1] == "<<" and 0 <= other < 32:
            found.add(one << other)
        computed = text.computed(at)
        found |= set() if computed is None else {computed}
    return frozenset(found)


@lru_cache(maxsize=8)
def marks(source: str) -> tuple[int, ...]:
    """Return the letters and then the other whole numbers that a text names, in ascending order.

    >>> marks("if (text[i] == ')' && depth > 3) f(0x10, 2.5f);")
    (41, 3, 16)
    """
    if len(source) > LONGEST:
        return ()
    text = _text(source)
    words = text.tokens[: text.count]
    letters = {letter for word in words if word[0] == "'" for letter in [text.number(word)]}
    others = {text.number(word) for word in words} - letters
    return tuple(sorted(n for n in letters if n is not None)) + tuple(
        sorted(n for n in others if n is not None)
    )


@lru_cache(maxsize=64)
def _values(source: str, symbol: str, position: int, declared: frozenset[int]) -> tuple[int, ...]:
    return tuple(_text(source).seen(plain_name(symbol), position).untried(declared))


@lru_cache(maxsize=3)
def _text(source: str) -> _Text:
    return _Text(source)


@dataclass(frozen=True)
class _Function:
    """A definition: its parameters' names and where its body is."""

    names: tuple[str, ...]
    begin: int
    end: int


class _Text(ValuedText):
    """A source with its function definitions, of whose arguments one after the other is asked."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.functions: dict[str, list[_Function]] = {}
        for one in self.definitions():
            found = _Function(self.parameters(one), one.begin, one.end)
            self.functions.setdefault(one.name, []).append(found)
        self._left = 0

    def computed(self, at: int) -> int | None:
        """Return what comes of the constants from a token on, which are added and multiplied.

        None for a single one, and where what stands before or behind them belongs to the last or
        the first of them.
        """
        if self.tokens[at - 1] in _BINDS:
            return None
        total, product, sign, several = 0, self.number(self.tokens[at]), 1, 0
        while product is not None and several < MOST_COMPUTED:
            operator, other = self.tokens[at + 1], self.number(self.tokens[at + 2])
            if other is None or operator not in {"+", "-", "*"}:
                break
            if operator == "*":
                product *= other
            else:
                total, product, sign = total + sign * product, other, 1 if operator == "+" else -1
            at, several = at + 2, several + 1
        if product is None or not several or self.tokens[at + 1] in _BINDS - {"-"}:
            return None
        found = total + sign * product
        return found if 0 <= found < LARGEST else None

    def seen(self, symbol: str, position: int) -> _Seen:
        """Return how an argument of a function is told apart, there and where it is passed on."""
        every = self.functions.get(symbol, ())
        return self._followed((o, o.names[position]) for o in every if position < len(o.names))

    def everywhere(self, names: Iterable[str]) -> _Seen:
        """Return how variables are told apart in any function, and where they are passed on."""
        every = [one for alike in self.functions.values() for one in alike]
        return self._followed(
            (one, name)
            for name in sorted(names)
            for one in self._within(every, name)
            if name not in one.names
        )

    def _within(self, every: Iterable[_Function], name: str) -> Iterator[_Function]:
        """Yield the functions that have a name in them."""
        places = [at for at, word in enumerate(self.tokens) if word == name]
        for one in every:
            at = bisect_left(places, one.begin)
            if at < len(places) and places[at] < one.end:
                yield one

    def _followed(self, names: Iterable[tuple[_Function, str]]) -> _Seen:
        seen = _Seen()
        self._left = STEPS
        wanted = deque(names)
        done: set[tuple[int, str]] = set()
        try:
            while wanted and len(done) < MOST_NAMES:
                one, name = wanted.popleft()
                if name and (one.begin, name) not in done:
                    done.add((one.begin, name))
                    wanted += self._body(one, name, seen)
        except _Enough:
            pass
        return seen

    def _spend(self, tokens: int = 1) -> None:
        self._left -= tokens
        if self._left < 0:
            raise _Enough

    def _body(self, one: _Function, name: str, seen: _Seen) -> list[tuple[_Function, str]]:
        further: list[tuple[_Function, str]] = []
        for at in range(one.begin, one.end):
            self._spend()
            word = self.tokens[at]
            if word == "if":
                self._alternatives(at, name, seen)
            elif word == "switch":
                self._switch(at, name, seen)
            elif word == name and self.tokens[at - 1] not in {".", "->", "::"}:
                self._use(at, name, seen)
                if self.tokens[at - 1] == "=" and self.tokens[at + 1] == ";":
                    further.append((one, self.tokens[at - 2]))
            elif word in self.functions:
                further += self._passed(at, name)
        return [(where, word) for where, word in further if NAME.fullmatch(word)]

    def _use(self, at: int, name: str, seen: _Seen) -> None:
        before, behind = self.tokens[at - 1], self.tokens[at + 1]
        compared = self._compared(at)
        if compared is not None:
            seen.equal.append(compared[0])
            if self.tokens[at + 1] == "==":
                self._chosen(compared, name, seen)
        elif behind in {"%", "&"}:
            found = self.operand(at + 2)
            if found is not None and found[0] > (behind == "%"):
                (seen.moduli if behind == "%" else seen.masks).append(found[0])
        elif behind in {"<", "<=", ">", ">="}:
            edge = self._edge(at)
            if edge is not None:
                seen.sides.append(edge[:2])
                seen.edges += [edge[:2]] if self.tokens[edge[2]] == "?" else []
        logical = {"&&", "||"}
        alone = before == "(" and behind == ")" and self.tokens[at - 2] == "if"
        joined = before in {"(", *logical} and behind in {")", *logical}
        seen.truth |= alone or (joined and bool({before, behind} & logical))
        seen.truth |= before == "!" or (behind == "?" and before not in GOES_ON - {"(", "["})

    def _compared(self, at: int) -> tuple[int, int] | None:
        """Return the constant that a token is equal to or not, and where the comparison ends."""
        if self.tokens[at + 1] in {"==", "!="}:
            return self.operand(at + 2)
        if self.tokens[at - 1] in {"==", "!="} and self.tokens[at - 3] not in GOES_ON - {"("}:
            value = self.number(self.tokens[at - 2])
            if value is not None and self.tokens[at + 1] not in GOES_ON:
                return value, at + 1
        return None

    def _edge(self, at: int) -> tuple[int, int, int] | None:
        """Return the numbers on both sides of a comparison by size, and where that ends."""
        found = self.operand(at + 2)
        if found is None or self.tokens[at + 1] not in {"<", "<=", ">", ">="}:
            return None
        first = found[0] + (self.tokens[at + 1] in {"<=", ">"})
        return first - 1, first, found[1]

    def _chosen(self, compared: tuple[int, int], name: str, seen: _Seen) -> None:
        """Note the alternatives of `name == 0 ? a : name == 1 ? b : c`."""
        chain: set[int] = set()
        found: tuple[int, int] | None = compared
        while found is not None:
            chain.add(found[0])
            at = found[1]
            while self.tokens[at] == ")" and at < found[1] + 3:
                at += 1
            if self.tokens[at] != "?":
                return
            other = self._otherwise(at + 1)
            if other is None:
                return
            start = at = other
            while self.tokens[at] == "(" and at < start + 3:
                at += 1
            again = self.tokens[at] == name and self.tokens[at + 1] == "=="
            found = self.operand(at + 2) if again else None
        seen.chains.append(frozenset(chain))

    def _otherwise(self, at: int) -> int | None:
        """Return what stands behind the colon that belongs to a question mark."""
        open_ = 0
        while at < self.count:
            self._spend()
            word = self.tokens[at]
            if word in {";", ")", "}", "]"}:
                return None
            if word == ":" and not open_:
                return at + 1
            open_ += (word == "?") - (word == ":")
            at = self.close(at) + 1 if word in CLOSES else at + 1
        return None

    def _alternatives(self, at: int, name: str, seen: _Seen) -> None:
        """Note what is left for an `else`, or for what stands behind a return."""
        chain: set[int] = set()
        while True:
            opened = at + 1 + (self.tokens[at + 1] == "constexpr")
            if self.tokens[opened] != "(":
                return
            close = self.close(opened)
            equal, unequal, edges = self._conditions(opened, close, name)
            if unequal and not chain:
                if not self._given_up(close + 1):
                    seen.chains.append(frozenset(unequal))
                return
            if not equal and not chain and not edges:
                return
            end = self._statement(close + 1)
            other = self.tokens[end] == "else"
            if edges and not chain:
                seen.edges += edges if other else []
                return
            if not equal:
                break
            chain |= equal
            if not other and not self._leaves(end):
                return
            at = end + other
            if self.tokens[at] != "if":
                if self.tokens[at] == "}" or self._given_up(at):
                    return
                break
        seen.chains.append(frozenset(chain))

    def _conditions(
        self, opened: int, close: int, name: str
    ) -> tuple[set[int], set[int], list[tuple[int, int]]]:
        """Return what a name is equal to in a condition, what it is not, and its edges."""
        equal: set[int] = set()
        unequal: set[int] = set()
        edges: list[tuple[int, int]] = []
        for at in range(opened + 1, close):
            self._spend()
            if self.tokens[at] != name:
                continue
            found, edge = self._compared(at), self._edge(at)
            if found is not None:
                same = "==" in {self.tokens[at + 1], self.tokens[at - 1]}
                (equal if same else unequal).add(found[0])
            elif edge is not None:
                edges.append(edge[:2])
        return equal, unequal, edges

    def _statement(self, at: int) -> int:
        """Return what stands behind a statement."""
        stack: list[str] = []
        while at < self.count:
            self._spend()
            word = self.tokens[at]
            if word in {"if", "for", "while", "switch"}:
                at += 1 + (self.tokens[at + 1] == "constexpr")
                if self.tokens[at] == "(":
                    stack.append(word)
                    at = self.close(at) + 1
                    continue
            if word == "do":
                stack.append(word)
                at += 1
                continue
            at = self.close(at) + 1 if word == "{" else self._semicolon(at)
            while stack:
                top = stack.pop()
                if top == "if" and self.tokens[min(at, self.count)] == "else":
                    stack.append("else")
                    at += 1
                    break
                if top == "do":
                    at = self._semicolon(at)
            else:
                break
        return min(at, self.count)

    def _semicolon(self, at: int) -> int:
        while at < self.count and self.tokens[at] not in {";", "}"}:
            self._spend()
            at = self.close(at) + 1 if self.tokens[at] in CLOSES else at + 1
        return at + (self.tokens[min(at, self.count)] == ";")

    def _leaves(self, end: int) -> bool:
        """Tell whether the statement that ends before a token ends in a return."""
        at = end - 1 - (self.tokens[end - 1] == "}")
        for place in range(at - 1, max(0, at - 60), -1):
            self._spend()
            if self.tokens[place] in {";", "{", "}"}:
                return self.tokens[place + 1] == "return"
            if self.tokens[place] == "return":
                return True
        return False

    def _given_up(self, at: int) -> bool:
        """Tell whether nothing is done in a statement but to complain, or to leave."""
        place = at + (self.tokens[at] == "{")
        if self.tokens[place : place + 2] in (["return", ";"], ["break", ";"]):
            return True
        if self.tokens[place] in {";", "}"}:
            return True
        end = min(self._statement(at), at + 80)
        return not _FAILS.isdisjoint(self.tokens[at:end])

    def _switch(self, at: int, name: str, seen: _Seen) -> None:
        close = self.close(at + 1)
        if close >= self.count or self.tokens[close - 1] != name or close - at > 6:
            return
        if self.tokens[close + 1] != "{":
            return
        place, end = close + 2, self.close(close + 1)
        chain: set[int] = set()
        rest = False
        while place < end:
            self._spend()
            word = self.tokens[place]
            if word == "case":
                found = self.operand(place + 1)
                if found is not None and self.tokens[found[1]] == ":":
                    chain.add(found[0])
            elif word == "default" and self.tokens[place + 1] == ":":
                rest = not self._given_up(place + 2)
            place = self.close(place) + 1 if word in CLOSES else place + 1
        seen.equal += sorted(chain)
        if rest and chain:
            seen.chains.append(frozenset(chain))

    def _passed(self, at: int, name: str) -> Iterator[tuple[_Function, str]]:
        """Yield the parameters that a name is passed on as, by a call or a launch."""
        opened = at + 1
        for left, right in (("<", ">"), ("<<<", ">>>")):
            if self.tokens[opened] == left:
                stop = min(opened + 120, self.count)
                self._spend(120)
                behind = [p for p in range(opened, stop) if self.tokens[p] == right]
                if not behind:
                    return
                opened = behind[0] + 1
        if self.tokens[opened] != "(" or self.close(opened) - opened > 400:
            return
        self._spend(self.close(opened) - opened)
        for position, part in enumerate(self.parts(opened)):
            if part[-1:] == [name] and (len(part) == 1 or (part[0] == "(" and len(part) < 7)):
                for one in self.functions[self.tokens[at]]:
                    self._spend()
                    if position < len(one.names):
                        yield one, one.names[position]
