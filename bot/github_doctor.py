"""What the GitHub App has and lacks, each with what to do about it: `optiml doctor --github`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.database import Database
from bot.doctor import Finding
from bot.events import secrets_of
from bot.github_errors import GithubError, Missing
from bot.github_paths import at
from bot.interfaces import Api
from bot.permissions import EVENTS, NEEDED, lacking
from bot.settings import Settings
from optimizer.errors import ConfigError

_WHERE = "in the App's settings on GitHub"


def examine(settings: Settings, api: Api, repository: str = "") -> list[Finding]:
    """Ask GitHub what the App may and hears; with a repository, what a review of it needs."""
    found = [_secret(settings), _database(settings)]
    try:
        app = api.request("GET", "/app").data
    except GithubError as error:
        return [*found, Finding("App", ok=False, words=error.message, remedy=error.remedy)]
    found.append(Finding("App", ok=True, words=f"signed in as {app.get('slug', 'the App')}"))
    found.append(_server(api))
    found += _permissions(app)
    found += _webhook(settings, api)
    found += _installations(api)
    if repository:
        found += _repository(settings, api, repository)
    return found


def _secret(settings: Settings) -> Finding:
    try:
        number = len(secrets_of(settings.webhook_secret))
    except ConfigError as error:
        return Finding("webhook secret", ok=False, words=error.message, remedy=error.remedy)
    words = "set" if number == 1 else f"{number} are taken; drop the old one after the rotation"
    return Finding("webhook secret", ok=True, words=words)


def _database(settings: Settings) -> Finding:
    try:
        database = Database(settings.database)
        database.prepare()
    except ConfigError as error:
        return Finding("database", ok=False, words=error.message, remedy=error.remedy)
    database.close()
    kind = "SQLite, for one process" if database.is_sqlite else "Postgres"
    return Finding("database", ok=True, words=kind)


def _server(api: Api) -> Finding:
    """Say which GitHub it is: an Enterprise Server can do less."""
    try:
        version = str((api.request("GET", "/meta").data or {}).get("installed_version") or "")
    except GithubError as error:
        return Finding("GitHub", ok=None, words=error.message, remedy=error.remedy)
    if not version:
        return Finding("GitHub", ok=True, words="github.com")
    words = f"Enterprise Server {version}: the GPU workflow's runs are found by their name"
    return Finding("GitHub", ok=True, words=words)


def _permissions(app: Mapping[str, Any]) -> Iterator[Finding]:
    missing = lacking(app.get("permissions") or {})
    for name, level in missing.items():
        yield Finding(
            f"permission {name}",
            ok=False,
            words=f"{level} is missing: it is needed to {NEEDED[name][1]}",
            remedy=f"grant it {_WHERE}; then whoever installed the App has to accept it",
        )
    if not missing:
        yield Finding("permissions", ok=True, words="all that are needed")
    deaf = [name for name in EVENTS if name not in (app.get("events") or [])]
    yield Finding(
        "events",
        ok=not deaf,
        words=f"not subscribed to {', '.join(deaf)}" if deaf else "subscribed to all",
        remedy=f"subscribe to them {_WHERE}" if deaf else "",
    )


def _webhook(settings: Settings, api: Api) -> Iterator[Finding]:
    try:
        hook = api.request("GET", "/app/hook/config").data or {}
    except GithubError as error:
        yield Finding("webhook", ok=None, words=error.message, remedy=error.remedy)
        return
    url = str(hook.get("url") or "")
    faults = []
    if not url.endswith("/webhook"):
        faults.append(f"deliveries go to {url or 'nowhere'}, not to https://HOST/webhook")
    if settings.server_url and not url.startswith(settings.server_url.rstrip("/")):
        faults.append(f"deliveries go to {url}, OPTIML_SERVER_URL is {settings.server_url}")
    if hook.get("content_type") not in {"json", None}:
        faults.append("the content type is not application/json")
    if str(hook.get("insecure_ssl", "0")) != "0":
        faults.append("GitHub does not check the certificate")
    if not hook.get("secret"):
        faults.append("there is no secret")
    words = "; ".join(faults) or f"deliveries go to {url}"
    yield Finding("webhook", ok=not faults, words=words, remedy=f"set it {_WHERE}" * bool(faults))
    try:
        last = api.request("GET", "/app/hook/deliveries", query={"per_page": 30}).data or []
    except GithubError:
        return
    failed = [one for one in last if int(one.get("status_code") or 0) // 100 != 2]
    if failed:
        yield Finding(
            "deliveries",
            ok=None,
            words=f"{len(failed)} of the last {len(last)} failed: {failed[0].get('status')}",
            remedy="is `optiml serve` reachable? Those of three days are asked for again",
        )


def _installations(api: Api) -> Iterator[Finding]:
    try:
        found = api.request("GET", "/app/installations", query={"per_page": 100}).data or []
    except GithubError as error:
        yield Finding("installations", ok=None, words=error.message, remedy=error.remedy)
        return
    if not found:
        yield Finding("installations", ok=False, words="none", remedy="install the App: its page")
        return
    yield Finding("installations", ok=True, words=str(len(found)))
    for one in found:
        who = str((one.get("account") or {}).get("login") or one.get("id"))
        if one.get("suspended_at"):
            yield Finding(f"installation {who}", ok=None, words="suspended", remedy="unsuspend it")
        elif missing := lacking(one.get("permissions") or {}):
            yield Finding(
                f"installation {who}",
                ok=False,
                words=f"has not accepted {', '.join(missing)}",
                remedy=f"{who} accepts them under Settings → GitHub Apps → Configure",
            )


def _repository(settings: Settings, api: Api, repository: str) -> Iterator[Finding]:
    workflow = f".github/workflows/{settings.gpu_workflow}"
    wanted: list[tuple[str, str, bool | None]] = [
        (".optiml.yml", "write it with `optiml init`; programs with main() need none", None)
    ]
    if settings.bench == "workflow":
        remedy = f"copy examples/workflows/optiml-gpu.yml to {workflow} of the default branch"
        wanted.append((workflow, remedy, False))
    for path, remedy, without in wanted:
        try:
            api.request("GET", at(repository, "contents", path), repository=repository)
        except Missing:
            words = f"{repository} has no {path}"
            yield Finding(path, ok=without, words=words, remedy=remedy)
        except GithubError as error:
            yield Finding(path, ok=False, words=error.message, remedy=error.remedy)
        else:
            yield Finding(path, ok=True, words=f"{repository} has it")
