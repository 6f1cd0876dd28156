"""Commands in comments: what is one, what is in it, and what is said of a mistake."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import commands
from bot.commands import (
    Apply,
    Approve,
    Cancel,
    Dismiss,
    Explain,
    Help,
    Mistake,
    Optimize,
    Status,
    parse,
)

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("/optiml", Help()),
        ("/optiml help", Help()),
        ("/optiml optimize", Optimize()),
        ("/OptiML Optimize softmax", Optimize("softmax")),
        ("/optiml optimize kernels/a.cu --budget 90s", Optimize("kernels/a.cu", 1.5)),
        ("/optiml optimize --budget=1h --min-speedup=1.05x", Optimize("", 60.0, 1.05)),
        ("/optiml optimize --objective energy", Optimize(objective="energy")),
        ('/optiml optimize "scan<float, 256>"', Optimize("scan<float, 256>")),
        ("/optiml optimize `scan<float, 256>`", Optimize("scan<float, 256>")),
        ("/optiml cancel", Cancel()),
        ("/optiml status", Status()),
        ("/optiml apply 1a2B3c4d", Apply("1a2b3c4d")),
        ("/optiml apply `1a2b3c4d` --squash", Apply("1a2b3c4d", squash=True)),
        ("/optiml dismiss 1a2b3c4d", Dismiss("1a2b3c4d")),
        ("/optiml explain 1a2b3c4d", Explain("1a2b3c4d")),
        (f"/optiml approve {SHA}", Approve(SHA)),
    ],
)
def test_every_command_of_the_contract_is_understood(text: str, meant: object) -> None:
    assert parse(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "\n\n  /optiml status",
        "> /optiml cancel\n> more\n\n/optiml status",
        "```\n/optiml cancel\n```\n/optiml status",
        "    /optiml cancel\n\n/optiml status",
        "<!-- /optiml cancel -->\n\n/optiml status",
        "/optiml status\n/optiml cancel",
        "/optiml status\r\n--\r\nsent from a mail program",
        "/optiml status\n\nthank you",
    ],
)
def test_quotes_code_and_what_follows_the_first_line_are_ignored(text: str) -> None:
    assert parse(text) == Status()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello /optiml status",
        "hello\n/optiml status",
        "hello\n\n/optiml status",
        "> /optiml status",
        "> quoted\n/optiml status",
        "`/optiml status`",
        "**/optiml** status",
        "[/optiml](https://example.org) status",
        "&#47;optiml status",
        "\\/optiml status",
        "- /optiml status",
        "# /optiml status",
        "    /optiml status",
        "```\n/optiml status",
        "<div>\n/optiml status\n</div>",
        "<!-- x --> /optiml status",
        "/optimlx status",
        "/optiml: status",
        "//optiml status",
    ],
)
def test_what_only_mentions_a_command_is_none(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/optiml optimise", "did you mean `/optiml optimize`?"),
        ("/optiml xyzzy", "see `/optiml help`"),
        ("/optiml optimize --budgt 3m", "did you mean `--budget`?"),
        ("/optiml optimize --budget", "optimize [KERNEL|PATH]"),
        ("/optiml optimize --budget soon", "`10m`"),
        ("/optiml optimize --budget ١٠m", "`10m`"),
        ("/optiml optimize --budget 0", "`10m`"),
        ("/optiml optimize --budget 25h", "less than `24h`"),
        ("/optiml optimize --budget 1m --budget 2m", "optimize [KERNEL|PATH]"),
        ("/optiml optimize --min-speedup 0.5", "five percent"),
        ("/optiml optimize --min-speedup nan", "five percent"),
        ("/optiml optimize --objective speed", "`time`"),
        ("/optiml optimize a b", "name one"),
        ("/optiml optimize ../secret", "top of the repository"),
        ("/optiml optimize /etc/passwd", "top of the repository"),
        ("/optiml optimize $(id)", "top of the repository"),
        ("/optiml optimize 'a", "scan<float, 256>"),
        ("/optiml optimize -rf", "see `/optiml help`"),
        ("/optiml cancel now", "write `/optiml cancel`"),
        ("/optiml apply", "apply ID"),
        ("/optiml apply 1a2b3c4", "eight characters"),
        ("/optiml apply 1a2b3c4d --squish", "did you mean `--squash`?"),
        ("/optiml apply 1a2b3c4d 5e6f7a8b", "apply ID"),
        ("/optiml approve 0123456", "40 characters"),
        ("/optiml " + "x" * 600, "`/optiml help`"),
    ],
)
def test_a_mistake_says_what_was_meant(text: str, said: str) -> None:
    found = parse(text)
    assert isinstance(found, Mistake)
    assert said in found.remedy


@given(st.text(max_size=400))
def test_any_comment_is_read_without_an_error(text: str) -> None:
    parse(text)


@given(st.text(max_size=120))
def test_whatever_follows_the_word_is_a_command_or_a_mistake_that_shows_nothing_odd(
    text: str,
) -> None:
    found = parse(f"/optiml {text}")
    assert found is not None
    if isinstance(found, Mistake):
        # It is said in a comment: no mention, no link, no markup of a stranger gets through.
        assert not set(found.message + found.remedy) & set("@#[]!&\n\\*$")


arguments = st.builds(
    Optimize,
    st.from_regex(r"[a-z_][a-z0-9_/.]{0,20}", fullmatch=True).filter(lambda t: ".." not in t),
    st.one_of(st.none(), st.integers(1, 1440).map(float)),
    st.one_of(st.none(), st.integers(100, 900).map(lambda n: n / 100)),
    st.sampled_from([None, "time", "energy", "time-then-energy"]),
)


@given(arguments, st.randoms())
def test_a_command_written_in_any_order_is_read_back(meant: Optimize, random: object) -> None:
    words = [meant.target]
    if meant.minutes is not None:
        words.append(f"--budget {meant.minutes:g}m")
    if meant.min_speedup is not None:
        words.append(f"--min-speedup={meant.min_speedup:g}")
    if meant.objective is not None:
        words.append(f"--objective {meant.objective}")
    random.shuffle(words)  # type: ignore[attr-defined]
    assert parse("/optiml optimize " + " ".join(words)) == meant


@given(st.text(alphabet="/optiml >`-*#\n\t ", max_size=200))
def test_a_command_is_found_only_at_the_start_of_a_line_of_its_own(text: str) -> None:
    if parse(text) is not None:
        assert any(line.strip().lower().startswith("/optiml") for line in text.splitlines())


@pytest.mark.parametrize("part", ["> ", "- ", "[", "```\n", "*a", "> a\n", "\t", "1. ", "<a>\n"])
def test_a_comment_made_to_be_slow_is_read_in_a_moment(part: str) -> None:
    begun = time.thread_time()
    parse((part * 65_536)[:65_536] + "\n\n/optiml help")
    assert time.thread_time() - begun < 3


def test_help_tells_of_every_command() -> None:
    assert set(commands.USAGE) == set(commands._READERS)


@pytest.mark.parametrize("command", [Optimize("a", 2.0, 1.5, "time"), Apply("0" * 8), Help()])
def test_a_command_survives_being_stored(command: commands.Command) -> None:
    text = commands.COMMAND.dump_json(command)
    assert commands.COMMAND.validate_json(text) == command
