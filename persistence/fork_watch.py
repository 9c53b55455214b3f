"""Tells pools of connections before the process forks, and after it, on both sides."""

from __future__ import annotations

import os
from threading import RLock
from typing import Protocol
from weakref import WeakSet


class MindsForks(Protocol):
    """What has to be put in order around a fork."""

    def prepare_fork(self) -> None:
        """Called before the fork. May wait a while; must not raise."""
        ...

    def continue_parent(self) -> None:
        """Called after the fork, or after an attempt that failed, in the parent."""
        ...

    def continue_child(self) -> None:
        """Called after the fork in the child, where no other thread lives."""
        ...


_watched: WeakSet[MindsForks] = WeakSet()
_at_fork: list[MindsForks] = []
_lock = RLock()  # held from before a fork until after it


def watch_forks(minder: MindsForks) -> None:
    """Tell this object of every fork, as long as somebody keeps it."""
    with _lock:
        _watched.add(minder)


def _before() -> None:
    _lock.acquire()
    _at_fork[:] = list(_watched)
    for minder in _at_fork:
        minder.prepare_fork()


def _in_parent() -> None:
    for minder in _at_fork:
        minder.continue_parent()
    _at_fork.clear()
    _lock.release()


def _in_child() -> None:
    for minder in _at_fork:
        minder.continue_child()
    _at_fork.clear()
    _lock.release()


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
