"""Charts of a trajectory as inline SVG: best so far, per-case bars, roofline.

Colours come from the page's style sheet, so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from bot import wording
from bot.markdown import visible
from bot.outcome import CaseOutcome, Ratio, speedup_of
from bot.roofline import Point, Roof
from optimizer.model import Status, Trajectory

_NO_FAILURE = frozenset({Status.CORRECT, Status.NOT_RECORDED})
_NICE = (0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50, 75, 100, 200, 500, 1000)


def escape(text: str) -> str:
    """Return a text of strangers as it goes into a drawing: as it is, nothing in it unseen."""
    return html.escape(visible(text))


@dataclass(slots=True)
class Canvas:
    """An SVG being drawn, `width` by `height` user units."""

    width: float
    height: float
    title: str
    parts: list[str] = field(default_factory=list[str])

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Draw a straight line."""
        self.parts.append(
            f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        )

    def path(self, points: Sequence[tuple[float, float]], css: str) -> None:
        """Draw a line through points."""
        if points:
            steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            self.parts.append(f'<polyline class="{css}" points="{steps}"/>')

    def box(self, x: float, y: float, width: float, height: float, css: str, tip: str = "") -> None:
        """Draw a filled rectangle with a tooltip."""
        inner = f"<title>{escape(tip)}</title>" if tip else ""
        self.parts.append(
            f'<rect class="{css}" x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" '
            f'height="{height:.1f}" rx="2">{inner}</rect>'
        )

    def dot(
        self, x: float, y: float, radius: float, css: str, tip: str = "", link: str = ""
    ) -> None:
        """Draw a dot with a tooltip, leading to a place on the page."""
        mark = (
            f'<circle class="{css}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}">'
            f"<title>{escape(tip)}</title></circle>"
        )
        # The list of candidates is for the keyboard: nobody should have to tab through every dot.
        self.parts.append(f'<a href="#{escape(link)}" tabindex="-1">{mark}</a>' if link else mark)

    def text(
        self, x: float, y: float, words: str, css: str = "label", anchor: str = "start"
    ) -> None:
        """Write a line of text."""
        self.parts.append(
            f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{escape(words)}</text>"
        )

    def svg(self) -> Markup:
        """Return the drawing; every text in it was escaped when it was drawn."""
        head = (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(self.title)}" xmlns="http://www.w3.org/2000/svg">'
        )
        return Markup(head + "".join(self.parts) + "</svg>")  # noqa: S704 - escaped above


@dataclass(frozen=True, slots=True)
class _Scale:
    """A logarithmic axis from values to user units."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Place a value; one outside the range sits on its edge."""
        clamped = min(max(value, self.low), self.high)
        share = math.log(clamped / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 8) -> list[float]:
        """Return round values inside the range, at most `most` of them."""
        inside = [value for value in _NICE if self.low * 0.999 <= value <= self.high * 1.001]
        stride = max(1, math.ceil(len(inside) / most))
        kept = inside[::stride]
        return kept if 1 in kept or 1 not in inside else sorted({*kept, 1})


def progress(trajectory: Trajectory, confirmed: Ratio | None) -> Markup:
    """Draw every candidate's speedup by evaluation, and the best so far."""
    width, height, left, bottom = 760.0, 300.0, 52.0, 56.0
    canvas = Canvas(width, height, "Speedup by evaluation, and the best so far")
    steps = trajectory.steps
    values = [speedup_of(step) for step in steps]
    known = [value for value in values if value]
    top = max([*known, confirmed.high if confirmed else 1.0, 1.2]) * 1.12
    bottom_value = max(min([*known, 0.9]) / 1.1, 0.25)
    y = _Scale(bottom_value, top, height - bottom, 16)
    span = max(len(steps) - 1, 1)

    def x(number: int) -> float:
        return left + 8 + (width - left - 24) * number / span

    for tick in y.ticks(7):
        canvas.line(left, y(tick), width - 8, y(tick), "grid strong" if tick == 1 else "grid")
        canvas.text(left - 8, y(tick) + 4, wording.times_short(tick), anchor="end")
    _numbers(canvas, x, span, height - bottom + 34)
    if any(step.verdict.status not in _NO_FAILURE for step in steps):
        canvas.text(left - 8, height - bottom + 17, "failed", anchor="end")
    path = {step.number for step in trajectory.path(trajectory.best.number)}
    best, line = 0.0, [(x(0), y(1.0))]
    crowd = len(steps) > 400
    for step, value in zip(steps, values, strict=True):
        tip = f"{step.number}: {wording.unticked(step.edit.title) if step.edit else 'original'}"
        link = f"step-{step.number}" if step.number in path or not crowd else ""
        if value is None:
            if step.verdict.status not in _NO_FAILURE and not crowd:
                tip = f"{tip}: {step.verdict.status.value}"
                canvas.dot(x(step.number), height - bottom + 13, 2.5, "dot failed", tip, link)
            continue
        if value > best:
            line.extend([(x(step.number), y(max(best, 1.0))), (x(step.number), y(max(value, 1.0)))])
            best = value
        won = step.number in path and bool(trajectory.winner)
        kind = "dot won" if won else "dot"
        tip = f"{tip}: {wording.times(value)}"
        canvas.dot(x(step.number), y(value), 5 if won else 3, kind, tip, link)
    line.append((width - 16, y(max(best, 1.0))))
    canvas.parts.insert(0, "")
    canvas.path(line, "best")
    if confirmed:
        canvas.line(left, y(confirmed.value), width - 8, y(confirmed.value), "confirmed")
        words = f"confirmed {wording.times(confirmed.value)}"
        canvas.text(left + 8, y(confirmed.value) - 6, words, "label good")
    return canvas.svg()


def _numbers(canvas: Canvas, x: object, span: int, y: float) -> None:
    if not callable(x):
        return
    stride = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if span / n <= 10)
    for number in range(0, span + 1, stride):
        canvas.text(x(number), y, str(number), anchor="middle")
    canvas.text(canvas.width - 12, y + 17, "evaluations →", anchor="end")


def bars(cases: Sequence[CaseOutcome]) -> Markup:
    """Draw each case's speedup as a bar with its interval; 1× is marked."""
    width, row, left = 760.0, 38.0, 236.0  # 24 bold letters fit left of the bars
    height = row * len(cases) + 34
    canvas = Canvas(width, height, "Speedup of each case with its interval")
    finite = [case.ratio.high for case in cases if math.isfinite(case.ratio.high)]
    top = max([*(case.ratio.value for case in cases), *finite, 1.2]) * 1.05
    right = width - 130
    unit = (right - left) / top
    for tick in _linear_ticks(top):
        x = left + tick * unit
        canvas.line(x, 4, x, height - 26, "grid strong" if tick == 1 else "grid")
        if tick or unit > 36:  # else 1× has the room
            canvas.text(x, height - 10, wording.times_short(tick), anchor="middle")
    for index, case in enumerate(cases):
        y = 8 + row * index
        short = case.name if len(case.name) <= 24 else case.name[:23] + "…"
        canvas.text(left - 10, y + 19, short, "label strong", "end")
        tip = (
            f"{case.name}: {wording.micros(case.before_us)} → {wording.micros(case.after_us)}, "
            f"{case.ratio}"
        )
        slower = case.ratio.high < 1
        canvas.box(left, y + 4, case.ratio.value * unit, row - 16, f"bar{' bad' * slower}", tip)
        if math.isfinite(case.ratio.high):
            low, high = left + case.ratio.low * unit, left + case.ratio.high * unit
            middle = y + 4 + (row - 16) / 2
            canvas.line(low, middle, max(high, low + 1), middle, "whisker")
            for end in (low, high):
                canvas.line(end, middle - 5, end, middle + 5, "whisker")
        end = left + max(case.ratio.value, min(case.ratio.high, top)) * unit
        canvas.text(end + 8, y + 20, wording.times(case.ratio.value), "label strong")
    return canvas.svg()


def _linear_ticks(top: float) -> list[float]:
    step = next(n for n in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if top / n <= 7)
    ticks = [step * n for n in range(int(top / step) + 1)]
    return ticks if 1 in ticks or top < 1 else sorted({*ticks, 1.0})


def roofline(roofs: Sequence[Roof], points: Sequence[Point]) -> Markup:
    """Draw measured roofs and where the original and the best candidate lie, log-log."""
    width, height, left, bottom = 760.0, 380.0, 66.0, 44.0
    canvas = Canvas(width, height, "Roofline: operations a second by operations a byte")
    flat = [roof for roof in roofs if not roof.is_slope]
    slopes = [roof for roof in roofs if roof.is_slope]
    peak = max([roof.rate for roof in flat] or [max(p.rate for p in points) * 4])
    ridge = peak / min([roof.rate for roof in slopes] or [1.0])
    x_low = _floor10(min([p.intensity for p in points] + [ridge / 30]) / 1.5)
    x_high = _ceil10(max([p.intensity for p in points] + [ridge * 8]))
    y_low = _floor10(min(p.rate for p in points) / 2)
    x = _Scale(x_low, x_high, left, width - 16)
    y = _Scale(y_low, peak * 3, height - bottom, 14)
    _decades(canvas, x, y, height - bottom)
    for roof in flat:
        canvas.line(x(x_low), y(roof.rate), x(x_high), y(roof.rate), "roof")
        canvas.text(width - 20, y(roof.rate) - 6, roof.name, "label", "end")
    for roof in slopes:
        start = max(x_low, y_low / roof.rate)
        end = min(x_high, peak / roof.rate)
        canvas.line(x(start), y(start * roof.rate), x(end), y(end * roof.rate), "roof")
        at = math.sqrt(start * end)
        angle = -math.degrees(
            math.atan2(y(start * roof.rate) - y(end * roof.rate), x(end) - x(start))
        )
        canvas.parts.append(
            f'<text class="label" transform="translate({x(at):.1f},{y(at * roof.rate) - 6:.1f}) '
            f'rotate({angle:.1f})" text-anchor="middle">{escape(roof.name)}</text>'
        )
    placed = [(x(point.intensity), y(point.rate), point) for point in points]
    if len(placed) > 1:
        canvas.path([(px, py) for px, py, _ in placed], "move")
    highest = min((py for _, py, _ in placed), default=0.0)
    for px, py, point in placed:
        css = "dot won" if point.is_best else "dot origin"
        canvas.dot(px, py, 7, css, f"{point.name}: {point.words}")
        near_edge = px > width - 170
        words = (
            f"{point.name} · {point.share * 100:.0f} % of its roof" if point.share else point.name
        )
        anchor, shift = ("end", -12) if near_edge else ("start", 12)
        # The upper point's words stand above it, the lower one's below: so they never meet.
        below = -10 if py == highest else 22
        canvas.text(px + shift, py + below, words, "label strong", anchor)
    canvas.text(width - 20, height - 6, "operations per DRAM byte →", anchor="end")
    canvas.text(left + 6, 26, "↑ operations per second")
    return canvas.svg()


def _decades(canvas: Canvas, x: _Scale, y: _Scale, floor: float) -> None:
    for exponent in range(math.floor(math.log10(x.low)), math.ceil(math.log10(x.high)) + 1):
        at = 10.0**exponent
        if x.low <= at <= x.high:
            canvas.line(x(at), y.end, x(at), floor, "grid")
            is_last = x(at) > canvas.width - 30
            place = canvas.width - 1 if is_last else x(at)
            canvas.text(place, floor + 17, f"{at:g}", anchor="end" if is_last else "middle")
    for exponent in range(math.floor(math.log10(y.low)), math.ceil(math.log10(y.high)) + 1):
        at = 10.0**exponent
        if y.low <= at <= y.high:
            canvas.line(x.start, y(at), x.end, y(at), "grid")
            canvas.text(x.start - 8, y(at) + 4, _rate(at), anchor="end")


def _rate(per_second: float) -> str:
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if per_second >= limit:
            return f"{per_second / limit:g} {unit}/s"
    return f"{per_second:g}/s"


def _floor10(value: float) -> float:
    return float(10.0 ** math.floor(math.log10(value)))


def _ceil10(value: float) -> float:
    return float(10.0 ** math.ceil(math.log10(value)))
