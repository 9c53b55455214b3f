"""A session file as Pi writes it, of any length: the same lines each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

SESSION: Final = "019c0000-0000-7000-8000-00000000b0b0"

WORDS: Final = (
    "the loop retries until a parser returns its window and the buffer grows while tests wait for "
    "sockets that close after every timeout so we keep one handle per worker and log what failed "
    'then read `code` in paths/like/this.py:42 with "quoted text" and C:\\backslash 1024 times'
).split()

RARE: Final = ("naïve", "→", "“so”", "…", "\x1b[31mred\x1b[0m", "✓")
"""One word in a hundred."""

TOOLS: Final = ("read", "bash", "edit", "grep")


class _Writer:
    """One conversation: questions, answers with tool calls and their results, marks between."""

    def __init__(self) -> None:
        self.random = Random(20260301)
        self.number = 0
        self.last: str | None = None
        self.calls = 0
        self.turns: list[str] = []
        texts = range(600)
        self.short = [self._words(6, 30) for _ in texts]
        self.long = [self._words(20, 80, "\n") for _ in texts]
        self.code = [self._words(10, 80, "\n\t") for _ in texts]
        self.signatures = [f"{self.random.getrandbits(1200):0300x}" for _ in range(50)]

    def _words(self, least: int, most: int, end: str = " ") -> str:
        count = self.random.randint(least, most)
        return "".join(
            word + (end if at % 9 == 8 else " ") for at, word in enumerate(self._some(count))
        ).rstrip()

    def _some(self, count: int) -> list[str]:
        words = self.random.choices(WORDS, k=count)
        if self.random.random() < count / 100:
            words[self.random.randrange(count)] = self.random.choice(RARE)
        return words

    def entry(self, type_: str, **fields: Any) -> bytes:
        self.number += 1
        # Odd times odd: every id is another one, and they do not rise.
        entry_id = f"{self.number * 0x9E3779B1 & 0xFFFFFFFF:08x}"
        record = {
            "type": type_,
            "id": entry_id,
            "parentId": self.last,
            "timestamp": self._time(),
            **fields,
        }
        self.last = entry_id
        return msgspec.json.encode(record).replace(b":9e-6", b":0.000009") + b"\n"

    def _time(self) -> str:
        days, seconds = divmod(self.number * 3, 86_400)
        month, day = divmod(days, 28)
        hour, seconds = divmod(seconds, 3600)
        minute, second = divmod(seconds, 60)
        thousandth = self.number * 137 % 1000
        return (
            f"2026-{month + 1:02}-{day + 1:02}T{hour:02}:{minute:02}:{second:02}.{thousandth:03}Z"
        )

    def message(self, **message: Any) -> bytes:
        return self.entry(
            "message", message={**message, "timestamp": 1772442000000 + self.number * 1137}
        )

    def usage(self) -> dict[str, Any]:
        # Most of a prompt is read from a cache: what is left may cost 0.000012.
        spent, made = self.random.choice((3, 4, 9, 310, 4200)), self.random.randint(20, 3000)
        cost = {"input": spent * 3e-6, "output": made * 1.5e-5, "cacheRead": 0, "cacheWrite": 0}
        return {
            "input": spent,
            "output": made,
            "cacheRead": self.random.randint(0, 90_000),
            "cacheWrite": 0,
            "totalTokens": spent + made,
            "cost": {**cost, "total": spent * 3e-6 + made * 1.5e-5},
        }

    def assistant(self, *blocks: dict[str, Any], stop: str) -> bytes:
        return self.message(
            role="assistant",
            content=list(blocks),
            api="anthropic-messages",
            provider="anthropic",
            model="claude-sonnet-4-5",
            usage=self.usage(),
            stopReason=stop,
        )

    def thoughts(self) -> list[dict[str, Any]]:
        if self.random.random() < 0.7:
            return []
        signature = self.random.choice(self.signatures)
        text = self.random.choice(self.short)
        return [{"type": "thinking", "thinking": text, "thinkingSignature": signature}]

    def call(self) -> dict[str, Any]:
        self.calls += 1
        name = self.random.choice(TOOLS)
        arguments: dict[str, Any] = {"path": f"src/module_{self.calls % 97}.py"}
        if name == "bash":
            arguments = {"command": self.random.choice(self.short)[:80], "timeout": 30}
        elif name == "edit":
            text = self.random.choice(self.short)
            arguments.update(oldText=text[:60], newText=text[:90])
        return {
            "type": "toolCall",
            "id": f"toolu_{self.calls:024x}",
            "name": name,
            "arguments": arguments,
        }

    def result(self, call: dict[str, Any]) -> bytes:
        text = self.random.choice(self.code)
        details = {"details": {"diff": text[:120]}} if call["name"] == "edit" else {}
        return self.message(
            role="toolResult",
            toolCallId=call["id"],
            toolName=call["name"],
            content=[{"type": "text", "text": text}],
            **details,
            isError=self.random.random() < 0.05,
        )

    def turn(self) -> Iterator[bytes]:
        """A question, some rounds of calls, an answer."""
        question = self.random.choice(self.short)
        if self.random.random() < 0.5:
            yield self.message(role="user", content=question)
        else:
            yield self.message(role="user", content=[{"type": "text", "text": question}])
        self.turns.append(str(self.last))
        for _ in range(self.random.randint(1, 8)):
            calls = [self.call() for _ in range(1 + (self.random.random() < 0.15))]
            said = [{"type": "text", "text": self.random.choice(self.short)}]
            blocks = [*self.thoughts(), *(said if self.random.random() < 0.4 else []), *calls]
            yield self.assistant(*blocks, stop="toolUse")
            for call in calls:
                yield self.result(call)
        said = [{"type": "text", "text": self.random.choice(self.long)}]
        yield self.assistant(*self.thoughts(), *said, stop="stop")

    def lines(self) -> Iterator[bytes]:
        header = {
            "type": "session",
            "version": 3,
            "id": SESSION,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/home/user/demo",
        }
        yield msgspec.json.encode(header) + b"\n"
        yield self.entry("model_change", provider="anthropic", modelId="claude-sonnet-4-5")
        yield self.entry("thinking_level_change", thinkingLevel="medium")
        number = 0
        while True:
            number += 1
            yield from self.turn()
            if number % 20 == 0:
                yield self.entry("label", targetId=self.turns[-1], label=f"checkpoint {number}")
            if number % 30 == 0:
                yield self.entry("custom", customType="todo", data={"done": number, "open": [1, 2]})
            if number % 40 == 0:
                yield self.entry(
                    "compaction",
                    summary=" ".join(self.random.choices(self.long, k=4)),
                    firstKeptEntryId=self.turns[-3],
                    tokensBefore=150_000,
                    details={"readFiles": [], "modifiedFiles": []},
                    fromHook=False,
                )
                self.turns = self.turns[-3:]
            if number % 100 == 0:
                # A branch is left: the conversation goes on three turns earlier.
                self.last = self.turns[-3]
            if number % 500 == 0:
                yield self.entry("session_info", name=f"Work on module {number}")


def write_pi_file(path: Path, lines: int) -> int:
    """Write a file of this many lines; answers its size in bytes."""
    with path.open("wb") as file:
        for _, line in zip(range(lines), _Writer().lines(), strict=False):
            file.write(line)
    return path.stat().st_size
