"""Small session files of Tau and Pi, written line by line, and what an import makes of them.

H4 is a user message `a`, an assistant's `b`, a user's `c` and an assistant's `d`, each under the
one before; the assistant names provider `p` and model `mm`.
"""

import json
from itertools import count

import pytest

from tapefold.domain.context import build_context
from tapefold.domain.tree import LEAF
from tapefold.domain.view import build_view
from tapefold.importing import import_file
from tapefold.interop.pi_replay import as_pi
from tapefold.interop.tau_replay import as_tau
from tapefold.sessions import Sessions
from tapefold.testing import said


class Imported:
    """A session that was imported from a file."""

    def __init__(self, sessions, path, report):
        self.sessions, self.path, self.report = sessions, path, report
        self.id = report.session_id

    @property
    def state(self):
        return self.sessions.state(self.id)

    def view(self, leaf=LEAF):
        return build_view(self.state, self.sessions.tapes, leaf)

    def said(self, leaf=LEAF):
        """The texts of the view, without their roles."""
        return [line.partition(": ")[2] for line in said(self.view(leaf))]

    def context(self, leaf=LEAF):
        return build_context(self.view(leaf))

    def sent(self, leaf=LEAF):
        """The texts of the context's rows."""
        return [line.partition(": ")[2] for line in said(self.context(leaf))]

    def replay(self, tool, leaf=LEAF):
        """What the tool's own replay answers: `messages` and `state`."""
        return {"tau": as_tau, "pi": as_pi}[tool](self.state, self.sessions.tapes, leaf)

    def texts(self, tool, leaf=LEAF):
        """The texts of the tool's own rows; a summary's without what is wrapped around it."""
        return [_text(row) for row in self.replay(tool, leaf)["messages"]]

    def again(self):
        """The report of one more import of the file as it is now."""
        return import_file(self.sessions, self.path)

    @property
    def reasons(self):
        """The reason codes of the import's report."""
        return [problem.reason for problem in self.report.problems]


def _text(row):
    content = row.get("summary", row.get("content"))
    if isinstance(content, list):
        content = "".join(block.get("text", "") for block in content)
    for before, after in (
        ("Previous conversation summary:\n", ""),
        ("<summary>\n", "\n</summary>"),
    ):
        if before in content:
            content = content.partition(before)[2].removesuffix(after)
    return content


class SessionFile:
    """Lines of one tool's file; `PARENT` is what it calls the parent."""

    PARENT = ""

    def __init__(self, sessions, folder):
        self._sessions, self._folder = sessions, folder
        self._names = count(1)

    def read_text(self, text):
        """Import a file of this text."""
        path = self._folder / f"{type(self).__name__.lower()}-{next(self._names)}.jsonl"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return Imported(self._sessions, path, import_file(self._sessions, path))

    def read(self, *lines):
        """Import a file of these records."""
        return self.read_text(self.text(*lines))

    def text(self, *lines):
        return "".join(json.dumps(line) + "\n" for line in lines)

    def time(self, entry_id):
        raise LookupError("each tool writes times its own way")

    def line(self, entry_id, parent, kind, **fields):
        record = {"id": entry_id, self.PARENT: parent, "timestamp": self.time(entry_id)}
        return {**record, "type": kind, **fields}

    def user(self, entry_id, parent=None, text=None):
        content = entry_id.upper() if text is None else text
        message = {"role": "user", "content": content, "timestamp": 1000}
        return self.line(entry_id, parent, "message", message=message)

    def assistant(self, entry_id, parent=None, text=None, calls=(), **fields):
        blocks = [] if text == "" else [{"type": "text", "text": text or entry_id.upper()}]
        blocks += [{"type": "toolCall", "id": c, "name": "saw", "arguments": {}} for c in calls]
        message = {
            "role": "assistant",
            "content": blocks,
            "api": "x",
            "provider": "p",
            "model": "mm",
            "stopReason": "toolUse" if calls else "stop",
            "timestamp": 2000,
            **fields,
        }
        return self.line(entry_id, parent, "message", message=message)

    def result(self, entry_id, parent, call_id, text=None):
        message = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": "saw",
            "content": [{"type": "text", "text": entry_id.upper() if text is None else text}],
            "isError": False,
            "timestamp": 3000,
        }
        return self.line(entry_id, parent, "message", message=message)

    @property
    def h4(self):
        return [
            self.user("a"),
            self.assistant("b", "a"),
            self.user("c", "b"),
            self.assistant("d", "c"),
        ]


class Tau(SessionFile):
    """Tau's newest generation: no header, seconds, snake_case."""

    NAME = "tau"
    PARENT = "parent_id"

    def time(self, entry_id):
        return 1_000.0 + len(entry_id)

    def line(self, entry_id, parent, kind, **fields):
        record = super().line(entry_id, parent, kind, **fields)
        return {key: value for key, value in record.items() if value is not None}

    def compaction(self, entry_id, parent, summary, boundary=None, **fields):
        if boundary is not None:
            fields["first_kept_entry_id"] = boundary
        return self.line(entry_id, parent, "compaction", summary=summary, **fields)

    def branch_summary(self, entry_id, parent, summary):
        return self.line(entry_id, parent, "branch_summary", summary=summary)

    def label(self, entry_id, parent, target, text):
        return self.line(entry_id, parent, "label", target_id=target, label=text)


class Pi(SessionFile):
    """Pi's version 3: a header, ISO times, camelCase."""

    NAME = "pi"
    PARENT = "parentId"

    def time(self, entry_id):
        return f"2026-03-01T09:00:{len(entry_id):02}.000Z"

    def header(self, session_id="h", **fields):
        return {
            "type": "session",
            "version": 3,
            "id": session_id,
            "timestamp": "2026-03-01T09:00:00.000Z",
            "cwd": "/home/ada",
            **fields,
        }

    def text(self, *lines):
        if not lines or lines[0].get("type") != "session":
            lines = (self.header(), *lines)
        return super().text(*lines)

    def compaction(self, entry_id, parent, summary, boundary=None, **fields):
        if boundary is not None:
            fields["firstKeptEntryId"] = boundary
        fields.setdefault("tokensBefore", 0)
        return self.line(entry_id, parent, "compaction", summary=summary, **fields)

    def branch_summary(self, entry_id, parent, summary):
        return self.line(entry_id, parent, "branch_summary", summary=summary, fromId="d")

    def label(self, entry_id, parent, target, text):
        return self.line(entry_id, parent, "label", targetId=target, label=text)


@pytest.fixture
def sessions():
    with Sessions("memory:") as opened:
        yield opened


@pytest.fixture
def tau(tmp_path):
    with Sessions("memory:") as opened:
        yield Tau(opened, tmp_path)


@pytest.fixture
def pi(tmp_path):
    with Sessions("memory:") as opened:
        yield Pi(opened, tmp_path)


@pytest.fixture(params=["tau", "pi"])
def tool(request):
    """Either tool's file."""
    return request.getfixturevalue(request.param)
