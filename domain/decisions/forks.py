"""Forks by reference: two small events, whatever the length of the parent."""

from __future__ import annotations

from typing import Any, Self, Unpack

from ..aggregate import FORK_KEY, Aggregate, Meta
from ..bodies import ForkBody, StartBody, title_line
from ..digests import mark_digest
from ..errors import InvalidValue, PositionOutOfRange
from ..events import Forked
from ..heads import DIRECTORY, Origin
from ..identifiers import MAX_ID, check_id
from ..kernel import State
from ..outcome import Outcome
from ..tree import LEAF, CurrentLeaf, LeafRef, entry_of, fork_leaf, require_node


class ForkDecisions(Aggregate):
    """Forking freezes the state here; parent and child go on in layers of their own."""

    def fork(
        self,
        *,
        leaf: LeafRef = LEAF,
        fork_id: str | None = None,
        child_id: str | None = None,
        at: State | None = None,
        inherit: bool = True,
        title: str | None = None,
        directory: str | None = None,
        **meta: Unpack[Meta],
    ) -> tuple[Self | None, Outcome]:
        """Fork a child off: (child, receipt). The child is saved with its parent.

        `leaf`: where the child begins (left out: the leaf there, or above it where that is an
        unfinished draft). `at`: the parent's frozen state at an older position, which `Sessions`
        supplies. `inherit=False`: the child starts empty (a sub-agent). `fork_id` names the
        fork: again with it, the first receipt is answered and the child is None.
        """
        self._check_usable()
        if meta.get("key") is not None:
            raise InvalidValue("a fork is named by fork_id=; a key of its own would name it twice")
        if not isinstance(inherit, bool):
            raise InvalidValue("inherit= is true or false")
        given = fork_id is not None
        fork_id = check_id(fork_id if given else self.defaults.new_entry_id(), "fork_id")
        if at is not None and not isinstance(at, State):
            raise InvalidValue(
                "at= takes the parent's frozen state; Sessions.fork takes a position"
            )
        said = _described(title, directory)
        started = self._body(StartBody, meta, incarnation=self.defaults.new_incarnation(), **said)
        asked: Any = {
            "at": None if at is None else at.position,
            "leaf": "default" if isinstance(leaf, CurrentLeaf) else [leaf],
            "inherit": inherit,
            "child": child_id,
        }
        # Fork ids are this session's own: keys are inherited, so they name the session too.
        key: Meta = {**meta, "key": f"{FORK_KEY}{self.id}:{fork_id}"}
        if given:
            repeated = self._repeated(Forked, key, {"fork_id": fork_id}, str(asked))
            if repeated is not None:
                return None, repeated
        basis = self._basis_of_fork(at)
        start = self._fork_start(basis, leaf) if inherit else None
        child_id = self._child_id(child_id, fork_id)
        body = self._body(
            ForkBody,
            meta,
            child=child_id,
            fork_id=fork_id,
            position=basis.position,
            leaf=start,
            inherit=inherit,
        )
        receipt = self._trigger(
            Forked,
            body,
            key,
            {"fork_id": fork_id},
            str(asked),
            targets=(child_id,),
            digest=mark_digest(body),
        )
        origin = Origin(self.id, basis.position, start, inherit)
        return self._forked(child_id, started, origin, basis, meta), receipt

    def _forked(
        self, child_id: str, started: StartBody, origin: Origin, basis: State, meta: Meta
    ) -> Self:
        """The child, on its basis, to be saved with the receipt."""
        head: dict[str, Any] = {"origin": origin}
        if started.title is not None:
            head["digest"] = mark_digest(StartBody.build(title=started.title))
        if started.directory is not None:
            head["name"] = DIRECTORY
        child = self._begin(
            child_id,
            started,
            head,
            {"timestamp": meta.get("timestamp")},
            basis if origin.inherit else None,
            self.defaults,
            self.tapes,
        )
        child._worthy = True
        child._child_of = self
        self._born.append(child)
        return child

    def _basis_of_fork(self, at: State | None) -> State:
        if at is None:
            return self.state.freeze()
        if at.session_id != self.id or at.position > self.state.position:
            raise PositionOutOfRange(self.id, at.position, self.state.position)
        return at

    def _fork_start(self, basis: State, leaf: LeafRef) -> str | None:
        if isinstance(leaf, CurrentLeaf):
            return fork_leaf(basis)
        return None if leaf is None else entry_of(require_node(basis, leaf))

    def _child_id(self, given: str | None, fork_id: str) -> str:
        """`<parent>::fork::<fork_id>` while that fits; who the parent is stands in `origin`."""
        if given is not None:
            if given == self.id:
                raise InvalidValue(f"session {self.id!r} cannot be its own fork; give another id")
            return check_id(given, "child_id")
        child_id = f"{self.id}::fork::{fork_id}"
        if len(child_id) > MAX_ID:
            child_id = self.defaults.new_session_id()
        return check_id(child_id, "child_id")


def _described(title: str | None, directory: str | None) -> dict[str, str]:
    said = {"title": title_line(title), "directory": directory}
    return {name: value for name, value in said.items() if value is not None}
