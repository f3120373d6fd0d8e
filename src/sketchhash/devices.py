"""Which device computes: the processor, or a card that PyTorch knows.

It is chosen once, by `using`, at the command line or by ``sketchhash.train(device=...)``; whatever learns asks
`device`. Random numbers that decide what is seen are drawn on the processor, so a seed means the same on every device.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from sketchhash.errors import BadArgument

_CHOSEN: ContextVar[torch.device | None] = ContextVar("device", default=None)


def device() -> torch.device:
    """Return the device that was chosen; else this process's CUDA card if there is one, and the processor if not."""
    chosen = _CHOSEN.get()
    if chosen is not None:
        return chosen
    return _own_card() if torch.cuda.is_available() else torch.device("cpu")


@contextmanager
def using(name: str | None) -> Iterator[torch.device]:
    """Compute inside on the device of this name: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; None changes nothing.

    Raises:
        BadArgument: If this machine has no such device.
    """
    token = _CHOSEN.set(_CHOSEN.get() if name is None else _named(name))
    try:
        yield device()
    finally:
        _CHOSEN.reset(token)


def available() -> tuple[str, ...]:
    """Name the devices of this machine."""
    cards = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return ("cpu", *cards, *(["mps"] if torch.backends.mps.is_available() else []))


def on_device(values: Tensor) -> Tensor:
    """Copy values from the processor to the device; to a card without waiting for the copy to end."""
    where = device()
    if where.type == "cuda":
        return values.pin_memory().to(where, non_blocking=True)
    return values.to(where)


def _named(name: str) -> torch.device:
    kind, colon, number = name.partition(":")
    if name not in (*available(), "cuda") or (name == "cuda" and not torch.cuda.is_available()):
        raise BadArgument(f"There is no device named {name!r} here. This machine has: {', '.join(available())}.")
    if kind == "cuda" and not colon:
        return _own_card()
    if number and _processes() > 1:
        raise BadArgument(f"{name} is one card, and torchrun gives each process its own. Type: --device cuda")
    return torch.device(name)


def _own_card() -> torch.device:
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def _processes() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))
