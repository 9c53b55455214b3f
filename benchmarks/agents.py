"""Tapes as agents leave them, many at a time, interleaved as a server sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from eventsourcing.persistence import StoredEvent

from tapefold import Sessions
from tapefold.domain import events
from tapefold.domain.jsonvalues import digest
from tapefold.persistence.codec import join_state

Step = list[tuple[type[events.Event], dict[str, Any], dict[str, Any]]]
"""(event class, head, body) of what is appended at once."""

CHUNK = 5_000
WORDS = (
    "the greenhouse pump was set to run at dawn and stopped when the soil sensor said that two "
    "litres had gone through; the log shows a fault in valve seven, which the night shift closed "
    "by hand \u2014 see notes/valves.md and run `check --all` before anything else is changed. "
) * 40
TOOLS = ("read_file", "run_command", "search", "edit_file")


def session_name(number: int) -> str:
    """The id of one of the sessions."""
    return f"agent-{number:06d}-5f3a"


class Agent:
    """One session in the making: `steps` says what it appends next, for ever."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.position = 0
        self._random = Random(number)
        self._leaf: str | None = None
        self._turns: list[tuple[str, str | None]] = []

    def steps(self) -> Iterator[Step]:
        """A start, then turns: a question, calls with their results, an answer."""
        yield [self._start()]
        while True:
            chance = self._random.random()
            if chance < 0.06 and len(self._turns) > 1:
                yield [self._go_back()]
            elif chance < 0.12 and self._turns:
                yield [self._mark(chance)]
            yield [self._ask()]
            for _ in range(self._random.choice((0, 1, 2, 2, 3, 4, 6))):
                yield from self._work()
            yield [self._answer(())]

    # -- events ----------------------------------------------------------------------------

    def _start(self) -> tuple[type[events.Event], dict[str, Any], dict[str, Any]]:
        title = f"Greenhouse {self.number}"
        body = {"directory": f"/home/gardener/project{self.number % 97}", "title": title}
        head = {"name": "directory", "digest": digest(title)}
        return events.SessionStarted, head, body

    def _message(
        self, role: str, body: dict[str, Any], **more: Any
    ) -> tuple[type[events.Event], dict[str, Any], dict[str, Any]]:
        message_id = f"{self._random.getrandbits(96):024x}"
        head: dict[str, Any] = {"entry_id": message_id, "parent_id": self._leaf, "takes_leaf": True}
        if self._leaf is None:
            del head["parent_id"]
        said = {"message_id": message_id, "role": role, "status": "sent"}
        self._leaf = message_id
        return events.MessageFinalized, {**head, **said, "digest": "0" * 32, **more}, body

    def _ask(self) -> tuple[type[events.Event], dict[str, Any], dict[str, Any]]:
        before = self._leaf
        one = self._message("user", {"content": [self._text(40, 400)]})
        self._turns.append((one[1]["entry_id"], before))
        return one

    def _answer(
        self, call_ids: tuple[str, ...]
    ) -> tuple[type[events.Event], dict[str, Any], dict[str, Any]]:
        content = [self._text(60, 300) if call_ids else self._text(200, 900)]
        content += [
            {
                "type": "tool_call",
                "call_id": call_id,
                "name": self._random.choice(TOOLS),
                "arguments": {"path": f"src/part{self._random.randrange(90)}.py", "limit": 200},
            }
            for call_id in call_ids
        ]
        body = {
            "content": content,
            "model": "demo-1",
            "provider": "demo",
            "usage": {"input": 4_000, "output": 300, "cache_read_input_tokens": 3_500},
            "stop_reason": "tool_use" if call_ids else "end",
        }
        more = {"call_ids": call_ids} if call_ids else {}
        return self._message("assistant", body, **more)

    def _work(self) -> Iterator[Step]:
        number = self._random.choice((1, 1, 1, 2))
        calls = tuple(f"call_{self._random.getrandbits(48):012x}" for _ in range(number))
        asked = self._answer(calls)
        yield [asked]
        owner = asked[1]["message_id"]
        yield [
            self._message(
                "tool_result",
                {"content": [self._text(100, 3_000)], "tool_name": "read_file"},
                call_ids=(call_id,),
                owner=owner,
            )
            for call_id in calls
        ]

    def _go_back(self) -> tuple[type[events.Event], dict[str, Any], dict[str, Any]]:
        """A branch: the leaf moves to before one of the last questions."""
        _, before = self._random.choice(self._turns[-3:])
        self._leaf = before
        targets = {} if before is None else {"targets": [before]}
        return events.LeafMoved, {"takes_leaf": True, **targets}, {"reason": "again"}

    def _mark(self, chance: float) -> tuple[type[events.Event], dict[str, Any], dict[str, Any]]:
        turn, _ = self._random.choice(self._turns[-5:])
        head: dict[str, Any]
        if chance < 0.08:
            head = {"targets": [turn], "digest": digest("start")}
            return events.Labelled, head, {"label": "start"}
        if chance < 0.10:
            head = {"message_id": turn, "role": "user", "status": "sent", "digest": "1" * 32}
            return events.MessageRevised, head, {"content": [self._text(40, 400)]}
        node = f"{self._random.getrandbits(96):024x}"
        head = {"entry_id": node, "takes_leaf": True, "name": "compaction/auto", "first_kept": turn}
        if self._leaf is not None:
            head["parent_id"] = self._leaf
        self._leaf = node
        body = {"summary": self._text(300, 1_200)["text"], "tokens_before": 90_000}
        return events.CompactionAnchored, head, body

    def _text(self, least: int, most: int) -> dict[str, Any]:
        size = int(least + (most - least) * self._random.random() ** 2)
        begin = self._random.randrange(4_000)
        return {"type": "text", "text": WORDS[begin : begin + size]}


def rows(sessions: int, length: int, *, active: int, first: int = 0) -> Iterator[StoredEvent]:
    """The events of `sessions` tapes of this length, `active` of them under way at a time."""
    random = Random(7)
    numbers = iter(range(first, first + sessions))
    running: list[tuple[Agent, Iterator[Step]]] = []
    clock = 0
    while True:
        while len(running) < active and (number := next(numbers, None)) is not None:
            agent = Agent(number)
            running.append((agent, agent.steps()))
        if not running:
            return
        at = random.randrange(len(running))
        agent, steps = running[at]
        for event, said, body in next(steps):
            if agent.position == length:
                break
            agent.position += 1
            clock += 1
            head = {
                "kind": event.KIND,
                "timestamp": f"2026-03-{1 + clock // 86_400 % 28:02d}T{clock // 3_600 % 24:02d}:"
                f"{clock // 60 % 60:02d}:{clock % 60:02d}.000000Z",
                **said,
            }
            state = join_state(event.class_version, _json(head), _json(body))
            name = session_name(agent.number)
            yield StoredEvent(name, agent.position, event.TOPIC, state)
        if agent.position == length:
            running[at] = running[-1]
            running.pop()


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def store(path: Path, sessions: int, length: int, *, active: int = 50) -> Path:
    """The path of a store with such tapes; made when first asked for."""
    if path.exists():
        return path
    with Sessions(path) as application:
        chunk: list[StoredEvent] = []
        for row in rows(sessions, length, active=active):
            chunk.append(row)
            if len(chunk) >= CHUNK:
                application.recorder.insert_events(chunk)
                chunk = []
        application.recorder.insert_events(chunk)
    return path
