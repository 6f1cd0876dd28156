"""Settings of all tests."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

# How long an example takes tells of the machine's load, not of the code. Tests of the GPU run
# where only what they need is installed.
if find_spec("hypothesis") is not None:
    settings = import_module("hypothesis").settings
    settings.register_profile("suite", deadline=None)
    settings.load_profile("suite")
