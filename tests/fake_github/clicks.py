"""What people do with a mouse: commit all suggestions of a pull request as one batch."""

from __future__ import annotations

from markdown_it import MarkdownIt

from tests.fake_github.server import FakeGithub
from tests.fake_github.state import Pull


def commit_suggestions(fake: FakeGithub, pull: Pull) -> str:
    """Put every suggestion that stands in place of its lines, and return the commit."""
    assert pull.source is not None
    files: dict[str, list[str]] = {}
    found = [
        one for one in fake.state.review_comments.values()
        if one.number == pull.number and "suggestion" in one.body
    ]  # fmt: skip
    for one in sorted(found, key=lambda entry: -entry.line):
        fences = [
            token
            for token in MarkdownIt().parse(one.body)
            if token.type == "fence" and token.info == "suggestion"
        ]
        if not fences:
            continue
        text = pull.repository.store.file(pull.head, one.path).decode()
        lines = files.setdefault(one.path, text.split("\n"))
        new = fences[0].content.split("\n")[:-1]
        lines[one.start - 1 : one.line] = new
    changed: dict[str, str | bytes | None] = {
        path: "\n".join(lines) for path, lines in files.items()
    }
    return fake.commit(pull.source, pull.head_ref, changed, message="Apply suggestions")
