"""Pi's versions 1 and 2. What its own newest release makes of them is in test_replay_as_pi.py."""

import json
from hashlib import sha256

import pytest

from tapefold.interop.errors import SourceChanged
from tapefold.interop.pi import PI
from tapefold.interop.pi_eras import newest_header, original_of
from tapefold.interop.raw import raw_of


class FirstVersion:
    """Records as version 1 has them: without ids and parents."""

    def __init__(self, pi):
        self.pi = pi

    def header(self, **fields):
        header = self.pi.header(**fields)
        del header["version"]
        return header

    def bare(self, record):
        return {key: value for key, value in record.items() if key not in ("id", "parentId")}

    def user(self, text):
        return self.bare(self.pi.user("", None, text))

    def assistant(self, text, *calls):
        return self.bare(self.pi.assistant("", None, text, *calls))

    def compaction(self, summary, index):
        return self.bare(
            self.pi.record(
                "compaction", "", None, summary=summary, tokensBefore=9, firstKeptEntryIndex=index
            )
        )

    def file(self, *records, end=b"\n"):
        return self.pi.file(self.header(), *records, end=end)


@pytest.fixture
def first(pi):
    return FirstVersion(pi)


def derived(line, session_id="pi-session"):
    return sha256(f"{session_id}:{line}".encode()).hexdigest()[:8]


# -- version 1 ---------------------------------------------------------------------------------


def test_a_file_without_ids_is_one_line_of_history_in_its_own_order(load, first):
    session = load(first.file(*[first.user(text) for text in ("A", "B", "C")]))
    assert session.said() == ["A", "B", "C"]
    ids = [derived(line) for line in (2, 3, 4)]
    assert [event.head.entry_id for event in session.events] == ids
    assert [event.head.parent_id for event in session.events] == [None, *ids[:2]]
    assert session.reasons == [(1, "older_version")]
    assert session.counts == (4, 4, 0, 0, 0, 0), "records of this version lack nothing"


def test_importing_it_twice_gives_the_same_ids_and_nothing_new(load, first, pi):
    data = first.file(first.user("A"), first.compaction("S", 1), first.assistant("B"))
    session = load(data)
    again = session.again()
    assert (again.report.kept, again.report.already) == (0, 4)
    assert again.reasons == []
    other = load(data, as_new=True)
    assert [e.head.entry_id for e in other.events] == [e.head.entry_id for e in session.events]
    assert other.sent() == session.sent() == ["S", "A", "B"]


def test_of_a_grown_file_only_what_is_new_is_appended_and_hangs_under_the_last(load, first):
    records = [first.user("A"), first.assistant("B"), first.compaction("S", 2), first.user("C")]
    whole = load(first.file(*records), as_new=True)
    session = load(first.file(*records[:2]))
    session.path.write_bytes(first.file(*records))
    again = session.again()
    assert (again.report.kept, again.report.already) == (2, 3)
    assert [e.head.parent_id for e in again.events] == [e.head.parent_id for e in whole.events]
    assert again.sent() == whole.sent() == ["S", "B", "C"]


def test_a_compaction_names_the_first_kept_record_by_its_index(load, first):
    """The header is number 0. Damaged lines were never counted, records of any kind were."""
    mystery = {"type": "mystery", "timestamp": "2026-03-01T09:00:02.000Z"}
    session = load(
        first.file(
            first.user("A"),
            b'{"type":"message","ti',
            mystery,
            first.assistant("B"),
            first.compaction("S", 3),
            first.user("C"),
        )
    )
    assert session.sent() == ["S", "B", "C"]
    assert session.by_id[derived(6)].head.first_kept == derived(5)
    assert session.parent(derived(5)) == derived(4), "the unknown record is part of the line"


@pytest.mark.parametrize("index", [0, -1, 2.5, 3, 400, 10**30])
def test_an_index_that_names_no_earlier_record_keeps_what_follows_and_is_told(load, first, index):
    session = load(first.file(first.user("A"), first.compaction("S", index), first.user("B")))
    assert session.sent() == ["S", "B"]
    assert session.reasons == [(1, "older_version"), (3, "boundary_unknown")]


def test_an_index_may_be_written_as_a_float_and_may_be_the_compactions_own(load, first):
    session = load(
        first.file(
            first.user("A"), first.assistant("B"), first.compaction("S", 2.0), first.user("C")
        )
    )
    assert session.sent() == ["S", "B", "C"]
    session = load(first.file(first.user("A"), first.compaction("S", 2)), as_new=True)
    assert session.sent() == ["S"]
    assert session.reasons == [(1, "older_version")]


@pytest.mark.parametrize("index", ["1", None, True, [1]])
def test_an_index_that_is_no_number_is_kept_as_an_unknown_field(load, first, index):
    record = first.compaction("S", index)
    session = load(first.file(first.user("A"), record, first.user("B")))
    assert session.sent() == ["S", "B"]
    assert session.records()[1] == record
    assert session.newest()[1]["firstKeptEntryIndex"] == index


def test_each_record_is_had_as_it_was_and_as_version_three_has_it(load, first, pi):
    hook = first.bare(pi.message("", None, "hookMessage", "Frost.", customType="weather"))
    records = [first.user("A"), hook, first.compaction("S", 1)]
    session = load(first.file(*records))
    assert session.records() == records
    a, h, k = (derived(line) for line in (2, 3, 4))
    compaction = {key: v for key, v in records[2].items() if key != "firstKeptEntryIndex"}
    assert session.newest() == [
        {**records[0], "id": a, "parentId": None},
        {**hook, "id": h, "parentId": a, "message": {**hook["message"], "role": "custom"}},
        {**compaction, "id": k, "parentId": h, "firstKeptEntryId": a},
    ]
    header = session.started.body.extra["pi"]["header"]
    assert header == first.header()
    assert newest_header(header) == {**header, "version": 3}


def test_what_version_three_makes_of_it_imports_to_the_same_conversation(load, first):
    records = [first.user("A"), first.assistant("B", "c1"), first.compaction("S", 2)]
    session = load(first.file(*records, first.user("C")))
    header = newest_header(session.started.body.extra["pi"]["header"])
    newer = load(session.sessions and first.pi.file(header, *session.newest()), as_new=True)
    assert newer.reasons == []
    assert newer.sent() == session.sent()
    assert newer.newest() == session.newest()
    assert newer.replay("pi") == session.replay("pi")


def test_the_model_and_level_of_an_early_header_stay_in_it_and_say_nothing(load, first):
    """The newest release loses them when it rewrites the file."""
    header = first.header(provider="p", modelId="m", thinkingLevel="high", branchedFrom="/x.jsonl")
    session = load(first.pi.file(header, first.user("A")))
    assert session.started.body.extra["pi"]["header"] == header
    state = session.replay("pi")["state"]
    assert (state["model"], state["thinking_level"]) == (None, "off")


def test_ids_parents_labels_and_boundaries_that_are_there_are_kept(load, first, pi):
    """A header without a version: the tool takes it for version 1, and gives all new ids."""
    session = load(
        first.file(
            pi.user("a", None, "A"),
            pi.assistant("b", "a", "B"),
            pi.user("c", "a", "aside"),
            pi.label("l", "c", "b", "here"),
            pi.compaction("k", "b", "S", "b"),
            pi.user("d", "k", "D"),
        )
    )
    assert session.sent() == ["S", "B", "D"]
    assert session.sessions.view(session.id).labels == {"b": "here"}
    assert session.parent("c") == "a"
    assert session.newest() == session.records()
    assert session.reasons == [(1, "older_version")]


def test_a_record_with_an_id_but_no_parent_hangs_under_the_one_before(load, first, pi):
    bare = [{k: v for k, v in pi.user(i, None, i).items() if k != "parentId"} for i in "aab"]
    other = {**bare[1], "message": {"role": "user", "content": "another a"}}
    session = load(first.file(first.user("first"), bare[0], bare[1], other, bare[2]))
    assert session.said() == ["first", "a", "another a", "b"]
    assert [session.parent(i) for i in ("a", "a~5", "b")] == [derived(2), "a", "a~5"]
    assert [reason for _, reason in session.reasons] == [
        "older_version",
        "duplicate_line",
        "duplicate_id",
    ]
    assert session.records() == [first.user("first"), bare[0], other, bare[2]]


@pytest.mark.parametrize("own_id", [None, 5, 5.5, True, [1], {"a": 1}, "x" * 300, "bell\x07"])
def test_an_id_that_cannot_be_used_breaks_no_line_of_history(load, first, own_id):
    odd = {"id": own_id, **first.user("B")}
    session = load(first.file(first.user("A"), odd, first.user("C")))
    assert session.said() == ["A", "B", "C"]
    assert session.records()[1] == odd
    assert session.again().report.kept == 0


def test_glued_and_damaged_records_of_this_version_are_read_like_any(load, first, pi):
    glued = pi.dump(first.user("B }{")) + pi.dump(first.user("C"))
    doubled = pi.dump(first.user("D")).replace(b'"role"', b'"role":"x","role"')
    rubbish = b'{"type":"mess\xff'
    file = first.file(first.user("A"), glued, doubled, rubbish, first.user("E"))
    session = load(file + pi.dump(first.user("torn"))[:40])
    assert session.said() == ["A", "B }{", "C", "D", "E"]
    assert session.counts == (8, 7, 0, 3, 1, 1)
    assert len({e.head.entry_id for e in session.events}) == 6
    assert [raw_of(e.body, "pi") for e in session.events if e.head.line in (4, 5)] == [
        doubled,
        rubbish + b"\n",
    ]
    assert session.report.bytes_unread == 0
    assert session.again().report.kept == 0


def test_what_follows_a_broken_line_is_found_though_it_has_no_id(load, first, pi):
    """A writer appended to a fragment: the record behind it is one of version 1."""
    session = load(first.file(first.user("A"), b'{"type":"mess' + pi.dump(first.user("B"))))
    assert session.said() == ["A", "B"]


def test_a_file_that_the_tool_rewrote_meanwhile_is_refused_as_changed(load, first, pi):
    session = load(first.file(first.user("A")))
    session.path.write_bytes(pi.file(pi.header(), pi.user("f00dfeed", None, "A")))
    with pytest.raises(SourceChanged, match="--as-new"):
        session.again()
    assert len(session.events) == 1


def test_a_long_file_of_this_version_is_walked_without_recursion(load, first):
    session = load(first.file(*[first.user(f"step {n}") for n in range(1_500)]))
    assert len(session.said()) == 1_500


# -- version 2 ---------------------------------------------------------------------------------


def test_a_message_of_an_extension_had_another_role(load, pi):
    hook = pi.message("b", "a", "hookMessage", "Frost.", customType="weather", display=False)
    records = [pi.user("a", None, "A"), hook]
    session = load(pi.file(pi.header(version=2), *records))
    event = session.by_id["b"]
    assert (event.head.role, event.body.custom_type) == ("custom", "weather")
    assert session.said() == ["A", "Frost."]
    assert session.records() == records
    assert session.newest()[1]["message"] == {**hook["message"], "role": "custom"}
    assert session.replay("pi")["messages"][1]["role"] == "custom"
    assert session.reasons == [(1, "older_version")]
    assert session.again().report.kept == 0


def test_with_version_three_that_role_is_unknown_and_the_record_foreign(load, pi):
    hook = pi.message("b", "a", "hookMessage", "Frost.", customType="weather")
    session = load(pi.session(pi.user("a", None, "A"), hook))
    assert session.reasons == [(3, "misfit")]
    assert session.records()[1] == session.newest()[1] == hook


def test_records_that_version_two_shares_with_three_say_nothing_of_their_age(load, pi):
    records = [
        pi.user("a", None, "A"),
        pi.label("l", "a", "a", "x"),
        pi.compaction("k", "l", "S", "a"),
    ]
    session = load(pi.file(pi.header(version=2), *records))
    assert session.newest() == session.records() == records
    assert all("older" not in event.body.extra["pi"] for event in session.events)


@pytest.mark.parametrize("version", [None, 2])
def test_events_of_older_files_could_have_been_validated(load, pi, version):
    """What is stored is plain JSON: it comes back equal from its text."""
    hook = pi.message("b", "a", "hookMessage", "Frost.", customType="weather")
    odd = {"type": "mystery", "id": "m", "parentId": "b", "timestamp": "2026-03-01T09:00:02.000Z"}
    session = load(pi.file(pi.header(version=version), pi.user("a", None, "A"), hook, odd))
    for event in session.events:
        stored = json.loads(json.dumps(event.body.to_json()))
        assert type(event.body).build(**stored) == event.body
        assert original_of(event.head, event.body) == original_of(
            event.head, type(event.body).build(**stored)
        )
        assert PI.record_of(event.head, event.body)["id"] == event.head.entry_id
