"""What people ask for in a comment: `/optiml optimize softmax --budget 10m`.

A command is the first word of a comment, outside quotes, code and lists; its line is read and the
rest is not. Arguments are a closed list: whatever is not in it is a mistake, and the answer says
what was meant. One parser serves the App and the Action.
"""

from __future__ import annotations

import difflib
import functools
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from markdown_it import MarkdownIt
from pydantic import Field, TypeAdapter

from bot import settings
from bot.settings import OBJECTIVES
from optimizer.errors import ConfigError

WORD = "/optiml"
MAX_LINE = 500  # characters of a command
MAX_MINUTES = 24 * 60.0
MAX_SPEEDUP = 1000.0
_START = re.compile(rf"{WORD}(?=[ \t]|$)", re.IGNORECASE)
_CODE = re.compile(r"`([^`]+)`")  # people put names in backticks: as good as quotes
_TARGET = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+:<>, *&-]{0,199}")
_ID = re.compile(r"[0-9a-f]{8}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Optimize:
    """Search the changed kernels, or those of one name or path. None means as configured."""

    target: str = ""
    minutes: float | None = None
    min_speedup: float | None = None
    objective: str | None = None
    verb: Literal["optimize"] = "optimize"


@dataclass(frozen=True, slots=True)
class Cancel:
    """End what runs for this pull request."""

    verb: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True)
class Status:
    """Say what runs for this pull request and what came of the last one."""

    verb: Literal["status"] = "status"


@dataclass(frozen=True, slots=True)
class Apply:
    """Commit a change that was found, in one commit per edit or in one."""

    id: str
    squash: bool = False
    verb: Literal["apply"] = "apply"


@dataclass(frozen=True, slots=True)
class Dismiss:
    """Never offer this change again."""

    id: str
    verb: Literal["dismiss"] = "dismiss"


@dataclass(frozen=True, slots=True)
class Explain:
    """Say how a change was found and what else was tried."""

    id: str
    verb: Literal["explain"] = "explain"


@dataclass(frozen=True, slots=True)
class Approve:
    """Let the code of one commit of a fork run on our GPUs."""

    sha: str
    verb: Literal["approve"] = "approve"


@dataclass(frozen=True, slots=True)
class Help:
    """Say what can be asked for."""

    verb: Literal["help"] = "help"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A command that cannot be obeyed: what is wrong, and what would be right. Plain text."""

    message: str
    remedy: str
    verb: Literal["mistake"] = "mistake"


Command = Optimize | Cancel | Status | Apply | Dismiss | Explain | Approve | Help
COMMAND: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="verb")])

USAGE: Mapping[str, tuple[str, str]] = {
    "optimize": (
        "optimize [KERNEL|PATH] [--budget 10m] [--min-speedup 1.05] [--objective time]",
        "search for faster versions of the changed kernels, or of one",
    ),
    "cancel": ("cancel", "end what runs for this pull request"),
    "status": ("status", "say what runs and what came of the last review"),
    "apply": ("apply ID [--squash]", "commit a change that was found; ID is in its comment"),
    "dismiss": ("dismiss ID", "never offer this change again"),
    "explain": ("explain ID", "say how it was found and what else was tried"),
    "approve": ("approve SHA", "let a fork's commit run on the GPU, by somebody with write access"),
    "help": ("help", "show this list"),
}


def parse(body: str) -> Command | Mistake | None:
    r"""Return the command a comment starts with, what is wrong with it, or None without one.

    >>> parse("> /optiml cancel\n\n/optiml optimize softmax --budget 90s")
    Optimize(target='softmax', minutes=1.5, min_speedup=None, objective=None, verb='optimize')
    >>> parse("use `/optiml cancel` to stop it") is None
    True
    >>> parse("/optiml optimise").remedy
    'did you mean `/optiml optimize`?'
    """
    line = _first_line(body)
    if line is None or not (start := _START.match(line)):
        return None
    rest = line[start.end() :]
    if len(rest) > MAX_LINE:
        return Mistake(f"a command has at most {MAX_LINE} characters", "see `/optiml help`")
    try:
        words = shlex.split(_CODE.sub(lambda found: shlex.quote(found[1].strip()), rest))
    except ValueError:
        return Mistake("a quote is not closed", 'quote names with spaces: "scan<float, 256>"')
    if not words:
        return Help()
    verb, arguments = words[0].lower(), words[1:]
    reader = _READERS.get(verb)
    if reader is None:
        return Mistake(f"there is no command {_shown(verb)}", _meant(verb, USAGE))
    return reader(arguments)


@functools.cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").disable("inline")  # blocks are enough to see what is quoted


def _first_line(body: str) -> str | None:
    """Return the first line of the comment's own running text, as it was typed."""
    for number, token in enumerate(tokens := _markdown().parse(body)):
        if token.level or token.type in {"html_block", "fence", "code_block", "blockquote_close"}:
            continue
        if token.type == "blockquote_open":
            continue
        # Dashes below a line make it a heading, as a mail's signature does.
        underlined = token.type == "heading_open" and token.markup in {"-", "="}
        if token.type == "paragraph_open" or underlined:
            return tokens[number + 1].content.split("\n", 1)[0]
        return None
    return None


def _shown(word: str) -> str:
    text = re.sub(r"[^\w./+:<>=-]", "?", word, flags=re.ASCII)
    return f"`{text[:60]}`" if text else "with an empty name"


def _meant(word: str, known: Mapping[str, object] | Sequence[str], prefix: str = WORD + " ") -> str:
    near = difflib.get_close_matches(word[:60], list(known), 1, 0.5)
    return f"did you mean `{prefix}{near[0]}`?" if near else "see `/optiml help`"


def _optimize(words: Sequence[str]) -> Command | Mistake:
    readers: Mapping[str, Callable[[str], object]] = {
        "--budget": _minutes,
        "--min-speedup": _speedup,
        "--objective": _objective,
    }
    found: dict[str, object] = {}
    targets: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-"):
            targets.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in readers:
            known = list(readers)
            return Mistake(f"there is no option {_shown(name)}", _meant(name, known, ""))
        if not equals:
            if not waiting:
                return Mistake(f"`{name}` needs a value", _usage("optimize"))
            value = waiting.pop(0)
        if name in found:
            return Mistake(f"`{name}` is given twice", _usage("optimize"))
        found[name] = read = readers[name](value)
        if isinstance(read, Mistake):
            return read
    if len(targets) > 1:
        return Mistake(
            "more than one kernel or path is given",
            "name one, or none for all that changed; quote a name with spaces",
        )
    target = targets[0] if targets else ""
    if targets and (not _TARGET.fullmatch(target) or ".." in target):
        return Mistake(
            f"{_shown(target)} is no kernel or path",
            "name a kernel of `.optiml.yml`, or a file from the top of the repository",
        )
    return Optimize(
        target,
        found.get("--budget"),  # type: ignore[arg-type]
        found.get("--min-speedup"),  # type: ignore[arg-type]
        found.get("--objective"),  # type: ignore[arg-type]
    )


def _minutes(text: str) -> float | Mistake:
    fault = Mistake(f"{_shown(text)} is no budget", "write it as `10m`, `90s` or `1h`")
    if not re.fullmatch(r"[0-9.]{1,8}(s|min|m|h)?", text):
        return fault
    try:
        found = settings.minutes(text)
    except ConfigError:
        return fault
    if found > MAX_MINUTES:
        return Mistake(f"{_shown(text)} is more than a day", "give less than `24h`")
    return found


def _speedup(text: str) -> float | Mistake:
    number = text.removesuffix("x").removesuffix("×")
    fits = re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", number)
    if not fits or not 1 <= float(number) <= MAX_SPEEDUP:
        return Mistake(
            f"{_shown(text)} is no speedup", "write it as `1.05`, which is five percent faster"
        )
    return float(number)


def _objective(text: str) -> str | Mistake:
    if text not in OBJECTIVES:
        known = ", ".join(f"`{one}`" for one in OBJECTIVES)
        return Mistake(f"{_shown(text)} is no objective", f"it is one of {known}")
    return text


def _alone(command: Command) -> Callable[[Sequence[str]], Command | Mistake]:
    def read(words: Sequence[str]) -> Command | Mistake:
        if words:
            return Mistake(f"`{command.verb}` takes no argument", _usage(command.verb))
        return command

    return read


def _one_id(words: Sequence[str], verb: str) -> str | Mistake:
    if len(words) != 1:
        return Mistake(f"`{verb}` takes one ID", _usage(verb))
    if not _ID.fullmatch(words[0].lower()):
        return Mistake(f"{_shown(words[0])} is no ID", "it has eight characters, 0 to 9 and a to f")
    return words[0].lower()


def _apply(words: Sequence[str]) -> Command | Mistake:
    options = [word for word in words if word.startswith("-")]
    unknown = [word for word in options if word != "--squash"]
    if unknown:
        return Mistake(
            f"there is no option {_shown(unknown[0])}", _meant(unknown[0], ["--squash"], "")
        )
    found = _one_id([word for word in words if not word.startswith("-")], "apply")
    return found if isinstance(found, Mistake) else Apply(found, bool(options))


def _dismiss(words: Sequence[str]) -> Command | Mistake:
    found = _one_id(words, "dismiss")
    return found if isinstance(found, Mistake) else Dismiss(found)


def _explain(words: Sequence[str]) -> Command | Mistake:
    found = _one_id(words, "explain")
    return found if isinstance(found, Mistake) else Explain(found)


def _approve(words: Sequence[str]) -> Command | Mistake:
    if len(words) != 1 or not _SHA.fullmatch(words[0].lower()):
        # A short one can be met by another commit, made for that.
        return Mistake(
            "`approve` takes the whole id of the commit you looked at",
            "copy all 40 characters; a few of them can be forged",
        )
    return Approve(words[0].lower())


def _usage(verb: str) -> str:
    return f"write `{WORD} {USAGE[verb][0]}`"


_READERS: Mapping[str, Callable[[Sequence[str]], Command | Mistake]] = {
    "optimize": _optimize,
    "cancel": _alone(Cancel()),
    "status": _alone(Status()),
    "apply": _apply,
    "dismiss": _dismiss,
    "explain": _explain,
    "approve": _approve,
    "help": _alone(Help()),
}
