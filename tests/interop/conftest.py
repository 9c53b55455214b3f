"""Session files written record by record, and what an import makes of them."""

import json
from pathlib import Path

import pytest

from tapefold.domain.content import TextBlock
from tapefold.importing import import_file
from tapefold.interop.pi import PI
from tapefold.interop.pi_eras import original_of
from tapefold.interop.pi_replay import as_pi
from tapefold.interop.tau import TAU
from tapefold.interop.tau_replay import as_tau
from tapefold.interop.writing.family import Family
from tapefold.interop.writing.report import ExportReport
from tapefold.interop.writing.to_pi import PiWriter
from tapefold.interop.writing.to_tau import TauWriter
from tapefold.sessions import Sessions

FIXTURES = Path(__file__).parents[1] / "fixtures"
SAMPLES = Path(__file__).parents[3] / "shared" / "conformance"
FORMATS = {"pi": PI, "tau": TAU}
ORIGINALS = {"pi": original_of, "tau": TAU.record_of}
LEAF = object()


def text_of(content):
    return "".join(block.text for block in content if isinstance(block, TextBlock))


class Imported:
    """One import of one file into a store."""

    def __init__(self, sessions, path, report):
        self.sessions, self.path, self.report = sessions, path, report
        self.id = report.session_id

    @property
    def events(self):
        """The tape without its first event."""
        return list(self.sessions.tape(self.id, gt=1))

    @property
    def started(self):
        return next(iter(self.sessions.tape(self.id)))

    @property
    def by_id(self):
        return {e.head.entry_id: e for e in self.events if e.head.entry_id is not None}

    @property
    def leaf(self):
        return self.sessions.state(self.id).leaf

    @property
    def reasons(self):
        return [(problem.line, problem.reason) for problem in self.report.problems]

    @property
    def counts(self):
        """read, kept, already, repaired, foreign, skipped"""
        r = self.report
        return r.read, r.kept, r.already, r.repaired, r.foreign, r.skipped

    def parent(self, entry_id):
        return self.by_id[entry_id].head.parent_id

    def said(self, **options):
        return [text_of(m.content) for m in self.sessions.view(self.id, **options).messages]

    def sent(self, **options):
        """The texts of the context's rows; of a call or a result, its call id with it."""
        rows = self.sessions.context(self.id, **options).rows
        return [text_of(row.content) for row in rows]

    def replay(self, tool, leaf=LEAF):
        state = self.sessions.state(self.id)
        convert = {"tau": as_tau, "pi": as_pi}[tool]
        if leaf is LEAF:
            return convert(state, self.sessions.tapes)
        return convert(state, self.sessions.tapes, leaf)

    def records(self):
        """Every record of the file, made again from the events."""
        original = ORIGINALS[self.report.format]
        return [original(e.head, e.body) for e in self.events]

    def newest(self):
        """The same in the newest version of the format."""
        form = FORMATS[self.report.format]
        return [form.record_of(e.head, e.body) for e in self.events]

    def entry(self, leaf):
        """An entry id; of `#n`, as replays of files without ids have it, that of the n-th."""
        if leaf is None or not leaf.startswith("#"):
            return leaf
        return [e.head.entry_id for e in self.events if e.head.entry_id][int(leaf[1:]) - 1]

    def again(self):
        """One more import of the same file, as it is now."""
        return Imported(self.sessions, self.path, import_file(self.sessions, self.path))


class Lines:
    """Records of one tool, as bytes of a file."""

    @staticmethod
    def dump(record):
        """One record, as a line."""
        return dumped(record)

    @staticmethod
    def file(*records, end=b"\n"):
        return b"\n".join(r if isinstance(r, bytes) else dumped(r) for r in records) + end


def dumped(record):
    return json.dumps(record, separators=(",", ":")).encode()


class PiLines(Lines):
    """Records as Pi writes them."""

    NAME = "pi"

    def header(self, **fields):
        return {
            "type": "session",
            "version": 3,
            "id": "pi-session",
            "timestamp": "2026-03-01T09:00:00.000Z",
            "cwd": "/home/user/demo",
            **fields,
        }

    def record(self, kind, entry_id, parent, /, **fields):
        return {
            "type": kind,
            "id": entry_id,
            "parentId": parent,
            "timestamp": "2026-03-01T09:00:01.000Z",
            **fields,
        }

    def message(self, entry_id, parent, role, content, **fields):
        message = {"role": role, "content": content, **fields, "timestamp": 1772355601000}
        return self.record("message", entry_id, parent, message=message)

    def user(self, entry_id, parent, text):
        return self.message(entry_id, parent, "user", text)

    def assistant(self, entry_id, parent, text, *calls, **fields):
        blocks = [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "a.txt"}}
            for call in calls
        ]
        said = {"api": "x", "provider": "p", "model": "m", "stopReason": "stop", **fields}
        return self.message(entry_id, parent, "assistant", blocks, **said)

    def result(self, entry_id, parent, call, text, error=False):
        blocks = [{"type": "text", "text": text}]
        return self.message(
            entry_id,
            parent,
            "toolResult",
            blocks,
            toolCallId=call,
            toolName="read",
            isError=error,
        )

    def label(self, entry_id, parent, target, text):
        return self.record("label", entry_id, parent, targetId=target, label=text)

    def setting(self, entry_id, parent):
        return self.record("thinking_level_change", entry_id, parent, thinkingLevel="high")

    def mark(self, entry_id, parent):
        return self.record("session_info", entry_id, parent, name="A name")

    def compaction(self, entry_id, parent, summary, boundary):
        return self.record(
            "compaction", entry_id, parent, summary=summary, firstKeptEntryId=boundary
        )

    def session(self, *records, end=b"\n"):
        """A whole file: the header comes first."""
        return self.file(self.header(), *records, end=end)


class TauLines(PiLines):
    """Records as Tau writes them."""

    NAME = "tau"

    def record(self, kind, entry_id, parent, /, **fields):
        link = {} if parent is None else {"parent_id": parent}
        return {"id": entry_id, **link, "timestamp": 1772355601.25, "type": kind, **fields}

    def label(self, entry_id, parent, target, text):
        return self.record("label", entry_id, parent, target_id=target, label=text)

    def setting(self, entry_id, parent):
        return self.record("thinking_level_change", entry_id, parent, thinking_level="high")

    def mark(self, entry_id, parent):
        return self.record("session_info", entry_id, parent, created_at=1.0, title="A name")

    def compaction(self, entry_id, parent, summary, boundary):
        return self.record(
            "compaction", entry_id, parent, summary=summary, first_kept_entry_id=boundary
        )

    def session(self, *records, end=b"\n"):
        """A whole file: there is no header."""
        return self.file(*records, end=end)


@pytest.fixture
def sessions():
    with Sessions("memory:") as store:
        yield store


@pytest.fixture
def pi():
    return PiLines()


@pytest.fixture
def tau():
    return TauLines()


@pytest.fixture(params=["pi", "tau"])
def tool(request):
    """Either tool: what follows holds for both."""
    return {"pi": PiLines, "tau": TauLines}[request.param]()


@pytest.fixture
def load(sessions, tmp_path):
    """Import bytes, or a file."""

    def run(data, **options):
        path = data
        if isinstance(data, bytes):
            path = tmp_path / "session.jsonl"
            path.write_bytes(data)
        return Imported(sessions, path, import_file(sessions, path, **options))

    return run


def plain(value):
    """A JSON value in which 1.0 and 1 are one number, and true and 1 are two."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, bool) or value is None:
        return (value,)
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.fixture
def same_json():
    """Whether two values are equal as JSON."""
    return lambda a, b: plain(a) == plain(b)


def files_of(folder, pattern):
    return sorted((folder).glob(pattern)) if folder.is_dir() else []


def pytest_generate_tests(metafunc):
    """`tau_file` and `pi_file`: each session file that lies here with the tool's own replay."""
    for tool in ("tau", "pi"):
        if f"{tool}_file" in metafunc.fixturenames:
            found = files_of(FIXTURES / tool, "*.jsonl")
            found += files_of(SAMPLES / tool, "*.jsonl")
            if not (SAMPLES / tool).is_dir():
                why = "the samples written by the tools themselves lie beside the repository"
                found.append(pytest.param(None, marks=pytest.mark.skip(reason=why), id="samples"))
            metafunc.parametrize(
                f"{tool}_file", found, ids=lambda f: f"{f.parts[-3]}/{f.stem}" if f else None
            )


# -- exports -----------------------------------------------------------------------------------

WRITERS = {"pi": PiWriter, "tau": TauWriter}


class Written:
    """A tape as a file of a tool, and the file imported again."""

    def __init__(self, tape, form, folder, leaf=None):
        self.form = form
        self.state = tape.state()
        self.tapes = tape.tapes
        self.report = ExportReport(self.state.session_id, form)
        leaf = self.state.leaf if leaf is None else leaf
        self.writer = WRITERS[form](Family(self.state, tape.tapes), leaf, None, self.report)
        self.data = b"".join(line + b"\n" for line in self.writer.lines())
        self.path = folder / f"{form}.jsonl"
        self.path.write_bytes(self.data)

    @property
    def records(self):
        return [json.loads(line) for line in self.data.splitlines()]

    def record(self, entry_id):
        return next(r for r in self.records if r.get("id") == entry_id)

    @property
    def reasons(self):
        return {
            k: n for k, n in self.report.reasons.items() if k not in ("session_id", "leaf_move")
        }

    def imported(self, sessions):
        return import_file(sessions, self.path).session_id


@pytest.fixture(scope="session")
def written_as():
    """Writes a tape as a file of a tool: (tape, form, folder) -> `Written`."""
    return Written


@pytest.fixture
def write(tmp_path):
    return lambda tape, form: Written(tape, form, tmp_path)


@pytest.fixture(params=["pi", "tau"])
def form(request):
    return request.param


@pytest.fixture
def parent(form):
    """The parent of a record."""
    return lambda record: record.get({"pi": "parentId", "tau": "parent_id"}[form])


@pytest.fixture
def other():
    """An empty store beside the first."""
    with Sessions("memory:") as store:
        yield store


@pytest.fixture
def talk(sessions):
    """A session of six events; its id."""
    session = sessions.start("talk", title="A talk")
    for n in range(4):
        session.finalize("user", f"words {n}")
    session.label(session.state.leaf, "the end")
    sessions.save(session)
    return "talk"
