"""Comments on pull requests, and reactions to them."""

from __future__ import annotations

from tests.fake_github.answers import Answer, Refusal, gone, unfit
from tests.fake_github.asked import Asked, route
from tests.fake_github.state import (
    Comment,
)

LONGEST_BODY = 65_536

_REACTIONS = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}


def body_of(asked: Asked) -> str:
    asked.need("body")
    body = str(asked.body["body"])
    if len(body) > LONGEST_BODY:
        raise unfit(
            "Validation Failed",
            {"resource": "IssueComment", "code": "unprocessable", "field": "data",
             "message": f"Body is too long (maximum is {LONGEST_BODY} characters)"},
        )  # fmt: skip
    return body


@route("GET", "/repos/{o}/{r}/issues/{n}/comments", "issues")
def comments(asked: Asked) -> Answer:
    name, number = asked.repository.name, int(asked.parts["n"])
    found = [
        asked.shapes.comment(name, one)
        for one in asked.state.comments.values()
        if one.number == number and asked.state.comment_places[one.id] == name.lower()
    ]
    return asked.page(found)


@route("POST", "/repos/{o}/{r}/issues/{n}/comments", "issues", "write")
def comment(asked: Asked) -> Answer:
    body, one = body_of(asked), asked.pull
    if one.locked:
        raise Refusal(403, "Unable to create comment because issue is locked.")
    made = Comment(next(asked.state.numbers), one.number, asked.author, body, asked.state.now())
    asked.state.comments[made.id] = made
    asked.state.comment_places[made.id] = asked.repository.name.lower()
    return Answer(201, asked.shapes.comment(asked.repository.name, made))


@route("PATCH", "/repos/{o}/{r}/issues/comments/{n}", "issues", "write")
def edit_comment(asked: Asked) -> Answer:
    found = asked.state.comments.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    found.body = body_of(asked)
    found.edits += 1
    return Answer(200, asked.shapes.comment(asked.repository.name, found))


@route("POST", "/repos/{o}/{r}/issues/comments/{n}/reactions", "issues", "write")
def react(asked: Asked) -> Answer:
    found = asked.state.comments.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    content = asked.body.get("content")
    if content not in _REACTIONS:
        raise unfit(
            "Validation Failed", {"resource": "Reaction", "field": "content", "code": "custom"}
        )
    known = (asked.author.id, content) in found.reactions
    if not known:
        found.reactions.append((asked.author.id, content))
    shown = {"id": 1, "content": content, "user": asked.shapes.user(asked.author),
             "created_at": asked.state.stamp()}  # fmt: skip
    return Answer(200 if known else 201, shown)
