"""Git objects, references and commits."""

from __future__ import annotations

import base64
import binascii

from tests.fake_github.answers import Answer, gone, unfit
from tests.fake_github.asked import Asked, route
from tests.fake_github.git_store import GitError


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
