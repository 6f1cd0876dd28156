"""What the fake GitHub does for each request, with the permission GitHub asks for."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fake_github.answers import Answer, Refusal, Shapes, gone, unfit
from tests.fake_github.git_store import GitError
from tests.fake_github.state import (
    Artifact,
    CheckRun,
    Comment,
    Pull,
    Repository,
    ReviewComment,
    Run,
    State,
    Token,
    User,
)

LONGEST_BODY = 65_536
LONGEST_SUMMARY = 65_535
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_REACTIONS = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
_CONCLUSIONS = {
    "action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale", "timed_out"
}  # fmt: skip
_RIGHTS = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass
class Asked:
    """One request: who asks, where, and with what."""

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any]
    token: Token | None
    state: State
    shapes: Shapes
    hooks: dict[str, Any]
    parts: dict[str, str]

    @property
    def repository(self) -> Repository:
        found = self.state.repositories.get(f"{self.parts['o']}/{self.parts['r']}".lower())
        if found is None:
            raise gone()
        return found

    @property
    def pull(self) -> Pull:
        found = self.state.pulls.get((self.repository.name.lower(), int(self.parts["n"])))
        if found is None:
            raise gone()
        return found

    @property
    def author(self) -> User:
        assert self.token is not None
        return self.token.user

    def need(self, *names: str) -> None:
        for name in names:
            if self.body.get(name) in (None, ""):
                raise unfit(
                    "Validation Failed", {"resource": "x", "field": name, "code": "missing_field"}
                )

    def page(self, items: list[Any]) -> Answer:
        size = min(int(self.query.get("per_page", "30")), 100)
        number = int(self.query.get("page", "1"))
        headers = {}
        if number * size < len(items):
            query = {**self.query, "page": str(number + 1)}
            text = "&".join(f"{name}={value}" for name, value in query.items())
            headers["link"] = f'<{self.shapes.url}{self.path}?{text}>; rel="next"'
        return Answer(200, items[(number - 1) * size : number * size], headers)


Handler = Callable[[Asked], Answer]
ROUTES: list[tuple[str, re.Pattern[str], str, str, Handler]] = []


def route(
    method: str, path: str, permission: str = "", level: str = "read"
) -> Callable[[Handler], Handler]:
    """Register a handler; `permission` empty means the App's JWT, `any` any token, `-` nobody."""
    pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + r"\Z")

    def keep(handler: Handler) -> Handler:
        ROUTES.append((method, pattern, permission, level, handler))
        return handler

    return keep


# -- the App -------------------------------------------------------------------------------------


@route("GET", "/meta", "-")
def meta(asked: Asked) -> Answer:
    return Answer(200, {"verifiable_password_authentication": False, **asked.hooks.get("meta", {})})


@route("GET", "/app")
def app(asked: Asked) -> Answer:
    held = next(iter(asked.state.permissions.values()), {})
    return Answer(
        200,
        {
            "id": 1,
            "slug": "optiml",
            "name": "OptiML",
            "owner": asked.shapes.user(asked.state.user("octo", "Organization")),
            "permissions": held,
            "events": asked.hooks.get("events", []),
            "html_url": f"{asked.shapes.site}/apps/optiml",
            "external_url": "https://optiml.example",
        },
    )


@route("POST", "/app-manifests/{code}/conversions", "-")
def converted(asked: Asked) -> Answer:
    """Give a new App its secrets, once."""
    made = asked.hooks.pop("manifest", None)
    if made is None:
        raise gone()
    owner = asked.shapes.user(asked.state.user("octo", "Organization"))
    rest = {"slug": "optiml", "name": "OptiML", "owner": owner, "permissions": {}, "events": []}
    return Answer(201, {**rest, **made})


@route("GET", "/repos/{o}/{r}/installation")
def installation(asked: Asked) -> Answer:
    number = asked.repository.installation
    if number is None:
        raise gone()
    return Answer(
        200,
        {"id": number, "app_slug": "optiml", "permissions": asked.state.permissions[number],
         "events": asked.hooks.get("events", []), "suspended_at": None},
    )  # fmt: skip


@route("POST", "/app/installations/{n}/access_tokens")
def access_token(asked: Asked) -> Answer:
    number = int(asked.parts["n"])
    held = asked.state.permissions.get(number)
    if held is None:
        raise gone()
    token = asked.state.mint(asked.state.user("optiml[bot]", "Bot"), held, installation=number)
    return Answer(
        201,
        {"token": token.text, "expires_at": asked.state.stamp(token.ends), "permissions": held},
    )


@route("GET", "/app/hook/deliveries")
def deliveries(asked: Asked) -> Answer:
    listed = sorted(asked.state.deliveries, key=lambda one: -one.at)
    return asked.page([
        {
            "id": one.id, "guid": one.guid, "event": one.event, "action": None,
            "delivered_at": asked.state.stamp(one.at), "redelivery": False, "duration": 0.1,
            "status": "OK" if one.status == 200 else "Failed", "status_code": one.status,
            "installation_id": 1, "repository_id": 1, "throttled_at": None,
        }
        for one in listed
    ])  # fmt: skip


@route("POST", "/app/hook/deliveries/{n}/attempts")
def redeliver(asked: Asked) -> Answer:
    found = [one for one in asked.state.deliveries if one.id == int(asked.parts["n"])]
    if not found:
        raise gone()
    found[0].redelivered += 1
    return Answer(202, {})


@route("GET", "/app/hook/config")
def hook_config(asked: Asked) -> Answer:
    return Answer(200, asked.hooks.get("config", {}))


@route("GET", "/app/installations")
def installations(asked: Asked) -> Answer:
    return asked.page(
        [
            {
                "id": one.installation,
                "account": asked.shapes.user(asked.state.user(one.name.partition("/")[0])),
                "permissions": asked.state.permissions[one.installation],
                "suspended_at": asked.hooks.get("suspended"),
            }
            for one in asked.state.repositories.values()
            if one.installation is not None
        ]
    )


@route("GET", "/user", "any")
def me(asked: Asked) -> Answer:
    if asked.token is None or asked.token.user.kind == "Bot":
        raise Refusal(403, "Resource not accessible by integration")
    return Answer(200, asked.shapes.user(asked.author))


@route("GET", "/users/{login}", "any")
def user(asked: Asked) -> Answer:
    found = asked.state.users.get(asked.parts["login"].lower())
    if found is None:
        raise gone()
    return Answer(200, asked.shapes.user(found))


# -- repositories and pull requests ----------------------------------------------------------------


@route("GET", "/repos/{o}/{r}", "metadata")
def repository(asked: Asked) -> Answer:
    return Answer(200, asked.shapes.repository(asked.repository))


@route("GET", "/repos/{o}/{r}/contents/{path}", "contents")
def contents(asked: Asked) -> Answer:
    here, path = asked.repository, asked.parts["path"]
    tip = here.tip(here.default_branch)
    found = here.store.entries(tip).get(path) if tip is not None else None
    if found is None:
        raise gone()
    raw = here.store.blob(found[1])
    place = f"{asked.shapes.url}/repos/{here.name}/contents/{path}"
    return Answer(
        200,
        {"type": "file", "name": path.rpartition("/")[2], "path": path, "sha": found[1],
         "size": len(raw), "encoding": "base64", "url": place,
         "content": base64.encodebytes(raw).decode(), "html_url": place, "git_url": place,
         "download_url": place, "_links": {"git": place, "html": place, "self": place}},
    )  # fmt: skip


@route("GET", "/repos/{o}/{r}/collaborators/{login}/permission", "metadata")
def permission(asked: Asked) -> Answer:
    found = asked.state.users.get(asked.parts["login"].lower())
    if found is None:
        raise gone()
    right = asked.repository.rights.get(found.login.lower(), "none")
    legacy = {"maintain": "write", "triage": "read"}.get(right, right)
    rank = _RIGHTS.index(right)
    names = {"pull": 1, "triage": 2, "push": 3, "maintain": 4, "admin": 5}
    rights = {name: rank >= least for name, least in names.items()}
    return Answer(
        200,
        {"permission": legacy, "role_name": right,
         "user": {**asked.shapes.user(found), "permissions": rights}},
    )  # fmt: skip


@route("GET", "/repos/{o}/{r}/pulls", "pull_requests")
def pulls(asked: Asked) -> Answer:
    name = asked.repository.name.lower()
    wanted = asked.query.get("state", "open")
    found = [one for (place, _), one in asked.state.pulls.items() if place == name]
    shown = [asked.shapes.pull(one) for one in found if wanted in {one.state, "all"}]
    label = asked.query.get("head")
    return asked.page([one for one in shown if label in {None, one["head"]["label"]}])


@route("POST", "/repos/{o}/{r}/pulls", "pull_requests", "write")
def open_pull(asked: Asked) -> Answer:
    asked.need("title", "head", "base")
    here, body = asked.repository, asked.body
    if here.tip(body["head"]) is None or here.tip(body["base"]) is None:
        raise unfit(
            "Validation Failed", {"resource": "PullRequest", "field": "head", "code": "invalid"}
        )
    for (place, _), one in asked.state.pulls.items():
        same = (place, one.head_ref, one.state) == (here.name.lower(), body["head"], "open")
        if same and one.base_ref == body["base"]:
            words = f"A pull request already exists for {one.head_ref}."
            raise unfit(
                "Validation Failed", {"resource": "PullRequest", "code": "custom", "message": words}
            )
    number = next(asked.state.pull_numbers)
    base = here.tip(body["base"])
    assert base is not None
    made = Pull(number, here, here, body["head"], body["base"], base, body["title"], asked.author,
                body.get("body") or "")  # fmt: skip
    asked.state.pulls[here.name.lower(), number] = made
    return Answer(201, asked.shapes.pull(made))


@route("GET", "/repos/{o}/{r}/pulls/{n}", "pull_requests")
def pull(asked: Asked) -> Answer:
    return Answer(200, asked.shapes.pull(asked.pull))


def shown_files(one: Pull) -> list[dict[str, Any]]:
    """Return a pull request's files, without patches where those are too large to show."""
    store = one.repository.store
    files = store.changed(store.merge_base(one.base, one.head), one.head)[:3000]
    for file in files:
        if file["changes"] > 3000:
            file.pop("patch", None)
    return files


@route("GET", "/repos/{o}/{r}/pulls/{n}/files", "pull_requests")
def files(asked: Asked) -> Answer:
    one = asked.pull
    name = asked.repository.name
    return asked.page([asked.shapes.file(name, one.head, file) for file in shown_files(one)])


@route("GET", "/repos/{o}/{r}/commits/{sha}/pulls", "pull_requests")
def pulls_of_commit(asked: Asked) -> Answer:
    name = asked.repository.name.lower()
    found = [
        asked.shapes.pull(one)
        for (place, _), one in asked.state.pulls.items()
        # Those of forks are not found this way.
        if place == name and one.source is one.repository and one.head == asked.parts["sha"]
    ]
    return asked.page(found)


@route("GET", "/repos/{o}/{r}/compare/{basehead}", "contents")
def compare(asked: Asked) -> Answer:
    base, _, head = asked.parts["basehead"].partition("...")
    store = asked.repository.store
    try:
        fork = store.merge_base(base, head)
    except GitError as error:
        raise gone() from error
    return Answer(200, {"merge_base_commit": {"sha": fork}, "status": "ahead"})


# -- comments --------------------------------------------------------------------------------------


def _body(asked: Asked) -> str:
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
    body, one = _body(asked), asked.pull
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
    found.body = _body(asked)
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


# -- reviews ---------------------------------------------------------------------------------------


def _line_now(one: ReviewComment, pull: Pull) -> int | None:
    """Return where a comment stands, None when its lines changed since."""
    store = pull.repository.store
    try:
        then = store.file(one.commit, one.path).split(b"\n")[one.start - 1 : one.line]
        now = store.file(pull.head, one.path).split(b"\n")[one.start - 1 : one.line]
    except GitError:
        return None
    return one.line if then == now else None


@route("GET", "/repos/{o}/{r}/pulls/{n}/comments", "pull_requests")
def review_comments(asked: Asked) -> Answer:
    one, name = asked.pull, asked.repository.name
    return asked.page(
        [
            asked.shapes.review_comment(name, comment, _line_now(comment, one))
            for comment in asked.state.review_comments.values()
            if comment.number == one.number
        ]
    )


@route("PATCH", "/repos/{o}/{r}/pulls/comments/{n}", "pull_requests", "write")
def edit_review_comment(asked: Asked) -> Answer:
    found = asked.state.review_comments.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    found.body = _body(asked)
    one = asked.state.pulls[asked.repository.name.lower(), found.number]
    name = asked.repository.name
    return Answer(200, asked.shapes.review_comment(name, found, _line_now(found, one)))


@route("POST", "/repos/{o}/{r}/pulls/{n}/reviews", "pull_requests", "write")
def review(asked: Asked) -> Answer:
    one, body = asked.pull, asked.body
    commit = body.get("commit_id") or one.head
    if not one.repository.store.is_ancestor(commit, one.head):
        raise unfit("Unprocessable Entity", "Commit is not part of the pull request")
    if body.get("event") == "COMMENT":
        asked.need("body")
    if len(str(body.get("body", ""))) > LONGEST_BODY:
        raise unfit("Unprocessable Entity", "Body is too long")
    store = one.repository.store
    shown = {file["filename"]: file.get("patch", "") for file in shown_files(one)}
    made = [_checked(asked, entry, shown, commit) for entry in body.get("comments") or ()]
    del store
    number = next(asked.state.numbers)
    for entry in made:  # all or none
        entry.review = number
        asked.state.review_comments[entry.id] = entry
    asked.state.reviews.append({"id": number, "pull": one.number, "body": body.get("body", "")})
    return Answer(
        200,
        {"id": number, "user": asked.shapes.user(asked.author), "body": body.get("body", ""),
         "state": "COMMENTED", "commit_id": commit},
    )  # fmt: skip


def _checked(
    asked: Asked, entry: dict[str, Any], shown: dict[str, str], commit: str
) -> ReviewComment:
    path, line = entry["path"], int(entry.get("line") or 0)
    start = int(entry.get("start_line", line))
    if path not in shown:
        raise unfit("Unprocessable Entity", "Path could not be resolved")
    hunks = [
        (int(found[1]), int(found[1]) + int(found[2] if found[2] is not None else 1) - 1)
        for found in _HUNK.finditer(shown[path])
    ]
    if "start_line" in entry and not start < line:
        raise unfit("Unprocessable Entity", "start_line must precede the end line.")
    if not any(first <= line <= last for first, last in hunks):
        raise unfit("Unprocessable Entity", "Line could not be resolved")
    if not any(first <= start <= line <= last for first, last in hunks):
        raise unfit("Unprocessable Entity", "Start line must be part of the same hunk as the line.")
    if not entry.get("body") or len(entry["body"]) > LONGEST_BODY:
        raise unfit("Unprocessable Entity", "Body is missing or too long")
    return ReviewComment(
        next(asked.state.numbers), int(asked.parts["n"]), asked.author, entry["body"], path, line,
        start, commit, 0,
    )  # fmt: skip


# -- checks ----------------------------------------------------------------------------------------


def _fill_check(found: CheckRun, body: dict[str, Any]) -> None:
    output = body.get("output")
    if output is not None:
        if "summary" not in output or "title" not in output:
            raise unfit("Invalid request.", "output needs title and summary")
        if any(len(str(output.get(name) or "")) > LONGEST_SUMMARY for name in ("summary", "text")):
            raise unfit("Invalid request.", "output.summary exceeds 65535 characters")
    actions = body.get("actions") or []
    if len(actions) > 3:
        raise unfit("Invalid request.", "No more than 3 actions are allowed")
    for one in actions:
        for name, most in (("label", 20), ("description", 40), ("identifier", 20)):
            if not 0 < len(one.get(name, "")) <= most:
                raise unfit("Invalid request.", f"actions.{name} exceeds {most} characters")
    conclusion, status = body.get("conclusion"), body.get("status", found.status)
    if status == "completed" and conclusion is None and found.conclusion is None:
        raise unfit("Invalid request.", "conclusion is required when status is completed")
    if conclusion is not None and conclusion not in _CONCLUSIONS:
        raise unfit("Invalid request.", "conclusion is not one of the known ones")
    found.status = "completed" if conclusion else status
    found.conclusion = conclusion or found.conclusion
    found.output = output or found.output
    found.actions = actions or found.actions
    found.details_url = body.get("details_url", found.details_url)


@route("GET", "/repos/{o}/{r}/commits/{sha}/check-runs", "checks")
def check_runs(asked: Asked) -> Answer:
    found = [
        asked.shapes.check(one)
        for one in asked.state.checks.values()
        if (one.repository, one.head) == (asked.repository.name, asked.parts["sha"])
        and asked.query.get("check_name") in {None, one.name}
    ]
    page = asked.page(found)
    page.data = {"total_count": len(found), "check_runs": page.data}
    return page


@route("POST", "/repos/{o}/{r}/check-runs", "checks", "write")
def open_check(asked: Asked) -> Answer:
    asked.need("name", "head_sha")
    head = asked.body["head_sha"]
    if not asked.repository.store.has(head, "commit"):
        raise unfit(f"No commit found for SHA: {head}")
    found = CheckRun(
        next(asked.state.numbers), asked.repository.name, head, asked.body["name"], "queued",
        asked.body.get("external_id", ""),
    )  # fmt: skip
    _fill_check(found, asked.body)
    asked.state.checks[found.id] = found
    return Answer(201, asked.shapes.check(found))


@route("PATCH", "/repos/{o}/{r}/check-runs/{n}", "checks", "write")
def update_check(asked: Asked) -> Answer:
    found = asked.state.checks.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    _fill_check(found, asked.body)
    return Answer(200, asked.shapes.check(found))


# -- git -------------------------------------------------------------------------------------------


@route("GET", "/repos/{o}/{r}/git/trees/{sha}", "contents")
def tree(asked: Asked) -> Answer:
    store, sha = asked.repository.store, asked.parts["sha"]
    try:
        root = store.line("rev-parse", "--verify", f"{sha}^{{tree}}")
    except GitError as error:
        raise gone() from error
    listed = store.listed(root, recursive="recursive" in asked.query)
    most = asked.hooks.get("tree_limit")
    cut = isinstance(most, int) and len(listed) > most and "recursive" in asked.query
    shown = listed[:most] if cut else listed
    return Answer(200, {"sha": root, "tree": shown, "truncated": cut})


@route("POST", "/repos/{o}/{r}/git/trees", "contents", "write")
def make_tree(asked: Asked) -> Answer:
    store = asked.repository.store
    base = asked.body.get("base_tree")
    if base is not None and not store.has(base, "tree"):
        raise unfit("base_tree is not a valid tree")
    entries = store.entries(base) if base else {}
    for one in asked.body["tree"]:
        if not store.has(one["sha"], "blob"):
            raise unfit("tree.sha is not a valid blob")
        entries[one["path"]] = (one["mode"], one["sha"])
    sha = store.tree_of(entries)
    return Answer(201, {"sha": sha, "tree": store.listed(sha, recursive=False), "truncated": False})


@route("GET", "/repos/{o}/{r}/git/blobs/{sha}", "contents")
def blob(asked: Asked) -> Answer:
    try:
        content = asked.repository.store.blob(asked.parts["sha"])
    except GitError as error:
        raise gone() from error
    text = base64.encodebytes(content).decode()
    return Answer(
        200,
        {"sha": asked.parts["sha"], "size": len(content), "content": text, "encoding": "base64"},
    )


@route("POST", "/repos/{o}/{r}/git/blobs", "contents", "write")
def make_blob(asked: Asked) -> Answer:
    content = asked.body.get("content", "")
    try:
        is_packed = asked.body.get("encoding") == "base64"
        raw = base64.b64decode(content) if is_packed else content.encode()
    except binascii.Error as error:
        raise unfit("content is not valid Base64") from error
    sha = asked.repository.store.line("hash-object", "-w", "--stdin", data=raw)
    return Answer(201, {"sha": sha, "url": f"{asked.shapes.url}{asked.path}/{sha}"})


@route("GET", "/repos/{o}/{r}/git/commits/{sha}", "contents")
def commit(asked: Asked) -> Answer:
    store, sha = asked.repository.store, asked.parts["sha"]
    if not store.has(sha, "commit"):
        raise gone()
    root = store.line("rev-parse", f"{sha}^{{tree}}")
    words = store.git("log", "-1", "--format=%B", sha).decode()
    return Answer(200, {"sha": sha, "tree": {"sha": root}, "message": words, "parents": []})


@route("POST", "/repos/{o}/{r}/git/commits", "contents", "write")
def make_commit(asked: Asked) -> Answer:
    asked.need("message", "tree")
    store, body = asked.repository.store, asked.body
    if not store.has(body["tree"], "tree"):
        raise unfit("Tree SHA does not exist")
    if not all(store.has(one, "commit") for one in body.get("parents", [])):
        raise unfit("Parent SHA does not exist or is not a commit object")
    parents = [word for one in body.get("parents", []) for word in ("-p", one)]
    sha = store.line("commit-tree", body["tree"], *parents, data=body["message"].encode())
    return Answer(
        201,
        {"sha": sha, "tree": {"sha": body["tree"]}, "message": body["message"], "parents": []},
    )


def _ref(asked: Asked) -> str:
    kind, _, name = asked.parts["ref"].partition("/")
    if kind != "heads":
        raise gone()
    return name


@route("GET", "/repos/{o}/{r}/git/ref/{ref}", "contents")
def read_ref(asked: Asked) -> Answer:
    sha = asked.repository.tip(_ref(asked))
    if sha is None:
        raise gone()
    return Answer(
        200, {"ref": f"refs/{asked.parts['ref']}", "object": {"type": "commit", "sha": sha}}
    )


@route("POST", "/repos/{o}/{r}/git/refs", "contents", "write")
def make_ref(asked: Asked) -> Answer:
    asked.need("ref", "sha")
    here, sha = asked.repository, asked.body["sha"]
    name = str(asked.body["ref"]).removeprefix("refs/heads/")
    if here.tip(name) is not None:
        raise unfit("Reference already exists")
    if not here.store.has(sha, "commit"):
        raise unfit("Object does not exist")
    here.store.git("update-ref", here.prefix + name, sha)
    return Answer(201, {"ref": asked.body["ref"], "object": {"type": "commit", "sha": sha}})


@route("PATCH", "/repos/{o}/{r}/git/refs/{ref}", "contents", "write")
def move_ref(asked: Asked) -> Answer:
    asked.need("sha")
    here, name, sha = asked.repository, _ref(asked), asked.body["sha"]
    old = here.tip(name)
    if old is None:
        raise unfit("Reference does not exist")
    if name in here.protected:
        raise unfit(
            "Repository rule violations found\n\nChanges must be made through a pull request."
        )
    if not here.store.has(sha, "commit"):
        raise unfit("Object does not exist")
    if not asked.body.get("force") and not here.store.is_ancestor(old, sha):
        raise unfit("Update is not a fast forward")
    here.store.git("update-ref", here.prefix + name, sha, old)
    return Answer(200, {"ref": f"refs/heads/{name}", "object": {"type": "commit", "sha": sha}})


@route("GET", "/repos/{o}/{r}/commits", "contents")
def commits(asked: Asked) -> Answer:
    here = asked.repository
    start = asked.query.get("sha", here.default_branch)
    tip = here.tip(start) or start
    words = ["log", "--format=%H", tip]
    if "path" in asked.query:
        words += ["--", asked.query["path"]]
    found = here.store.git(*words).decode().split()
    return asked.page(
        [{"sha": one, "html_url": f"{asked.shapes.site}/{here.name}/commit/{one}"} for one in found]
    )


# -- Actions ---------------------------------------------------------------------------------------


@route("GET", "/repos/{o}/{r}/actions/workflows/{w}", "actions")
def workflow(asked: Asked) -> Answer:
    here, name = asked.repository, asked.parts["w"]
    tip = here.tip(here.default_branch)
    path = f".github/workflows/{name}"
    if tip is None or path not in here.store.entries(tip):
        raise gone()
    return Answer(200, {"id": 1, "name": name, "path": path, "state": "active"})


@route("GET", "/repos/{o}/{r}/actions/workflows/{w}/runs", "actions")
def runs(asked: Asked) -> Answer:
    found = [
        asked.shapes.run(one)
        for one in sorted(asked.state.runs.values(), key=lambda run: -run.id)
        if (one.repository, one.workflow) == (asked.repository.name, asked.parts["w"])
    ]
    page = asked.page(found)
    page.data = {"total_count": len(found), "workflow_runs": page.data}
    return page


@route("POST", "/repos/{o}/{r}/actions/workflows/{w}/dispatches", "actions", "write")
def dispatch(asked: Asked) -> Answer:
    asked.need("ref")
    here, name = asked.repository, asked.parts["w"]
    tip = here.tip(asked.body["ref"])
    if tip is None:
        raise unfit(f"No ref found for: {asked.body['ref']}")
    if f".github/workflows/{name}" not in here.store.entries(tip):
        raise gone()
    inputs = asked.body.get("inputs") or {}
    if len(inputs) > 25 or sum(map(len, inputs.values())) > 65_535:
        raise unfit("inputs are too large")
    number = next(asked.state.numbers)
    title = asked.hooks.get("run_name", lambda _: "OptiML")(inputs)
    made = Run(number, here.name, name, asked.body["ref"], inputs, title, asked.state.now())
    asked.state.runs[number] = made
    start = asked.hooks.get("on_dispatch")
    if start is not None:
        start(made)
    if not asked.body.get("return_run_details"):
        return Answer(204)
    shown = asked.shapes.run(made)
    return Answer(
        200,
        {"workflow_run_id": number, "run_url": shown["url"], "html_url": shown["html_url"]},
    )


def _run(asked: Asked) -> Run:
    found = asked.state.runs.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    return found


@route("GET", "/repos/{o}/{r}/actions/runs/{n}", "actions")
def run(asked: Asked) -> Answer:
    return Answer(200, asked.shapes.run(_run(asked)))


@route("POST", "/repos/{o}/{r}/actions/runs/{n}/cancel", "actions", "write")
def cancel(asked: Asked) -> Answer:
    found = _run(asked)
    if found.status == "completed":
        raise Refusal(409, "Cannot cancel a workflow run that is completed.")
    found.status, found.conclusion, found.updated = "completed", "cancelled", asked.state.now()
    return Answer(202, {})


@route("GET", "/repos/{o}/{r}/actions/runs/{n}/artifacts", "actions")
def artifacts(asked: Asked) -> Answer:
    found = []
    for one in asked.state.artifacts.values():
        if one.run != int(asked.parts["n"]) or asked.query.get("name") not in {None, one.name}:
            continue
        one.lag -= 1
        if one.lag < 0:
            found.append(_artifact(asked, one))
    return Answer(200, {"total_count": len(found), "artifacts": found})


def _artifact(asked: Asked, one: Artifact) -> dict[str, Any]:
    path = f"{asked.shapes.url}/repos/{asked.repository.name}/actions/artifacts/{one.id}"
    stamp = asked.state.stamp()
    return {
        "id": one.id, "name": one.name, "size_in_bytes": len(one.data), "expired": False,
        "digest": f"sha256:{hashlib.sha256(one.data).hexdigest()}", "url": path,
        "archive_download_url": f"{path}/zip", "created_at": stamp, "updated_at": stamp,
        "expires_at": stamp,
    }  # fmt: skip


@route("GET", "/repos/{o}/{r}/actions/artifacts/{n}/zip", "actions")
def download(asked: Asked) -> Answer:
    found = asked.state.artifacts.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    ticket = secrets.token_hex(8)
    asked.state.downloads[ticket] = (found.data, asked.state.now() + 60)
    place = f"{asked.hooks['storage']}/storage/{ticket}"
    return Answer(302, headers={"location": place})
