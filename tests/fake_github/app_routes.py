"""The App itself, its installations and webhooks, and who asks."""

from __future__ import annotations

from tests.fake_github.answers import Answer, Refusal, gone
from tests.fake_github.asked import Asked, route


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
