"""Addresses that are this very host's own, where nobody else listens in."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Tell whether an address is this very host's own.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("10.0.0.1")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
