"""`optiml memory`: what earlier searches learned."""

from __future__ import annotations

from typing import Annotated

import typer

from bot import settings
from bot.cli_options import Json, console_of, print_json
from optimizer.errors import ConfigError

memory_app = typer.Typer(no_args_is_help=True, help="Show or clear what earlier searches learned.")


@memory_app.command("show")
def memory_show_command(as_json: Json = False) -> None:
    """Show which kinds of edit gained what, on which bottleneck and GPU, and how priors move."""
    from bot import memory_store, memory_view, wiring

    store = memory_store.store_of(settings.load())
    if store is None:
        raise ConfigError("the search memory is off", "OPTIML_MEMORY=on switches it on")
    found = store.load("", wiring.today())
    if as_json:
        print_json("memory", lessons=memory_view.rows(found), notes=list(found.notes))
    else:
        memory_view.show(console_of(), store, found)


@memory_app.command("clear")
def memory_clear_command(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.", metavar="")] = False,
) -> None:
    """Forget what earlier searches learned, in the file or at the address of the settings."""
    from bot import memory_store

    store = memory_store.store_of(settings.load())
    if store is None:
        raise ConfigError("the search memory is off", "OPTIML_MEMORY=on switches it on")
    if not yes:
        typer.confirm("Forget everything that was learned?", abort=True)
    store.clear()
    console_of().print("the search memory is empty")
