"""`optiml`: the command line."""

from __future__ import annotations

import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from bot import cli_look, cli_memory, cli_review, cli_run, cli_serve, cli_verify
from bot.cli_options import complain
from optimizer.errors import OptimlError
from runners.fault import Fault

INTERRUPTED = 130

app = typer.Typer(
    name="optiml",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Make CUDA kernels faster: search over edits, each verified and timed on a GPU.\n\n"
    "`optiml run FILE.cu` optimizes one file, `optiml review` a branch. Without a GPU, start with "
    "`optiml inspect FILE.cu` or `optiml demo`; `optiml doctor` says what is missing.\n\n"
    "Exit status: 0 done, whether or not something faster was found · 1 unexpected · 2 bad input · "
    "3 the unedited kernel fails · 4 no usable device · 5 `verify` refuses a candidate.",
)

# In the order of `optiml --help`.
app.command("run")(cli_run.run_command)
app.command("capture", context_settings={"allow_interspersed_args": False})(cli_run.capture_command)
app.command("review")(cli_review.review_command)
app.command("verify")(cli_verify.verify_command)
app.command("inspect")(cli_look.inspect_command)
app.command("init")(cli_look.init_command)
app.command("report")(cli_look.report_command)
app.command("doctor")(cli_look.doctor_command)
app.command("demo")(cli_look.demo_command)
app.command("synth")(cli_run.synth_command)
app.command("mcp")(cli_run.mcp_command)
app.command("action")(cli_serve.action_command)
app.add_typer(cli_memory.memory_app, name="memory")
app.command("worker")(cli_serve.worker_command)
app.command("scheduler")(cli_serve.scheduler_command)
app.command("serve")(cli_serve.serve_command)
app.command("pause")(cli_serve.pause_command)
app.command("resume")(cli_serve.resume_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; an error is one message, never a traceback."""
    try:
        status = app(list(arguments) if arguments is not None else None, standalone_mode=False)
    except TyperException as error:
        if not error.format_message():
            return 2  # its help was shown instead
        words = list(sys.argv[1:] if arguments is None else arguments)
        remedy = "optiml --help, or optiml COMMAND --help"
        if words[:1] == ["run"] and "No such option" in error.format_message():
            remedy += "; what a program takes comes behind --: optiml run FILE -- ARGUMENTS"
        complain(error.format_message(), remedy)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except Fault as fault:
        return _failed(fault)
    except OptimlError as error:
        complain(error.message, error.remedy)
        return error.exit_code
    except BrokenPipeError:
        return 0  # whoever read our output has seen enough
    except Exception:  # noqa: BLE001 - the last resort of a command line
        complain(
            f"unexpected: {sys.exc_info()[1]}",
            f"the details are in {_details()}; please report them",
        )
        return 1
    if status == INTERRUPTED:
        complain("interrupted before there was a result")
    return int(status or 0)


def _failed(fault: Fault) -> int:
    from runners.wire import unwrap

    try:
        unwrap(fault)
    except OptimlError as error:
        complain(error.message, error.remedy)
        return error.exit_code


def _details() -> str:
    with tempfile.NamedTemporaryFile(
        "w", prefix="optiml-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.write(f"{shlex.join(sys.argv)}\n{traceback.format_exc()}")
    return file.name
