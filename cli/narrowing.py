"""Lists of rows, of which one is shown and narrowed by words; and the row that is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from .paper import Part


class Choices(Protocol):
    """What can be picked."""

    def __len__(self) -> int: ...

    def key(self, n: int) -> str:
        """What names row n, in every list of a picker."""

    def parts(self, n: int, width: int, *, alone: bool) -> Iterable[Part]:
        """Row n; `alone`: not among all others, but as one that was searched for."""

    def text(self, n: int) -> str:
        """What is searched of row n."""


class Narrowing:
    """Lists by name, each made when it is first looked at; `start` is the key of the row that is
    chosen at first. `found` are the rows that hold every word of `query`, `at` is a place in it.
    """

    def __init__(
        self, lists: Mapping[str, Callable[[], Choices]], first: str | None, start: str | None
    ) -> None:
        self._lists = lists
        self._made: dict[str, Choices] = {}
        self._texts: dict[str, list[str]] = {}
        self.name = first or next(iter(lists))
        self.query = ""
        self.found: Sequence[int] = ()
        self.at = 0
        self._look(start)

    @property
    def list(self) -> Choices:
        """The list that is shown."""
        if self.name not in self._made:
            self._made[self.name] = self._lists[self.name]()
        return self._made[self.name]

    @property
    def several(self) -> bool:
        """Whether there is another list."""
        return len(self._lists) > 1

    @property
    def chosen(self) -> str | None:
        """The key of the chosen row; None where nothing was found."""
        return self.list.key(self.found[self.at]) if self.found else None

    def move(self, by: int) -> None:
        """Choose another row, as far as there are some."""
        self.at = max(min(self.at + by, len(self.found) - 1), 0)

    def search(self, query: str, *, keep: bool = True) -> None:
        """Look for other words; `keep`: stay on the chosen row if it is among what is found."""
        chosen = self.chosen if keep else None
        self.query = query
        self._look(chosen)

    def next_list(self) -> None:
        """Show the next list, and stay on the row if it is there."""
        names = [*self._lists]
        chosen = self.chosen
        self.name = names[(names.index(self.name) + 1) % len(names)]
        self._look(chosen)

    def _look(self, keep: str | None) -> None:
        rows = self.list
        self.found = range(len(rows))
        words = self.query.casefold().split()
        if words:
            if self.name not in self._texts:
                self._texts[self.name] = [rows.text(n).casefold() for n in self.found]
            texts = self._texts[self.name]
            self.found = [n for n, text in enumerate(texts) if all(word in text for word in words)]
        self.at = 0
        if keep is not None:
            same = (i for i, n in enumerate(self.found) if rows.key(n) == keep)
            self.at = next(same, 0)
