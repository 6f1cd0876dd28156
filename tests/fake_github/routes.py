"""What the fake GitHub does for each request, with the permission GitHub asks for."""

from __future__ import annotations

from tests.fake_github import (  # noqa: F401 - each adds its own to the table
    action_routes,
    app_routes,
    check_routes,
    comment_routes,
    git_routes,
    pull_routes,
    review_routes,
)
from tests.fake_github.asked import ROUTES

__all__ = ["ROUTES"]
