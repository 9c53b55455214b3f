"""Files as crashes, editors and other programs leave them, and what is right in spite of it.

`sent` is what a model would be sent: the rows of the context.
"""

import json

import pytest

from tapefold.interop.errors import UnsupportedFile


def test_a_torn_tail_is_told_not_stored_and_read_when_it_is_whole(load, pi):
    """The next append is not glued to the fragment: it comes after a newline, or not at all."""
    last = pi.assistant("d", "c", "A flat brush of 40 mm.")
    good = pi.session(pi.user("a", None, "A"), pi.assistant("b", "a", "B"), pi.user("c", "b", "C"))
    session = load(good + pi.dump(last)[:120])
    assert session.sent() == ["A", "B", "C"]
    assert session.counts == (5, 4, 0, 0, 0, 1)
    assert [(p.reason, p.detail) for p in session.report.problems] == [("torn_tail", "120 bytes")]
    session.sessions.execute(session.id, lambda s: s.finalize("user", "here"))
    again = session.again()
    assert again.sent() == ["A", "B", "C", "here"]
    assert again.counts == (5, 0, 4, 0, 0, 1)
    assert [reason for _, reason in again.reasons] == ["torn_tail"]


def test_lone_surrogates_survive_beside_whole_characters(load, pi):
    raw = rb'{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:00:01.000Z",'
    raw += rb'"message":{"role":"user","content":"red \ud83d, blue \udc80, \ud83d\ude80"}}'
    session = load(pi.session(raw))
    assert session.sent() == ["red \ud83d, blue \udc80, \U0001f680"]
    assert session.records() == [json.loads(raw)]


def test_a_byte_order_mark_and_crlf_cost_neither_header_nor_text(load, pi):
    lines = pi.session(pi.user("a", None, "Line one.\nLine two."), pi.user("b", "a", "B"))
    session = load(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n"))
    assert session.sent() == ["Line one.\nLine two.", "B"]
    assert session.reasons == [(1, "byte_order_mark"), (1, "crlf")]
    assert session.id == "pi-session"


def test_doubled_ids_self_parents_and_rings_end_and_the_first_of_an_id_wins(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "Start."),
            pi.user("b", "a", "Second."),
            pi.user("a", "b", "It reuses the first id."),
            pi.user("c", "c", "My own parent."),
            pi.user("d", "e", "Half of a ring."),
            pi.user("e", "d", "The other half."),
            pi.user("f", "b", "Below b."),
        )
    )
    assert session.sent() == ["Start.", "Second.", "Below b."]
    assert len(session.sessions.tree(session.id).nodes) == 7
    assert [session.parent(i) for i in ("c", "d", "e")] == [None, None, "d"]
    assert session.reasons == [(4, "duplicate_id"), (5, "self_parent"), (6, "ring")]


def test_a_rename_at_the_end_does_not_hide_the_conversation(load, pi):
    texts = ["One.", "Two.", "Three.", "Four."]
    users = [pi.user(f"m{n}", f"m{n - 1}" if n else None, text) for n, text in enumerate(texts)]
    rename = pi.record("session_info", "r", "m1", name="Counting lesson")
    session = load(pi.session(*users, rename))
    assert session.sent() == texts
    assert session.sessions.view(session.id).name == "Counting lesson"


def test_of_two_compactions_the_newer_rules_and_the_older_messages_stay_in_the_log(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "Plan."),
            pi.user("b", "a", "Kept first."),
            pi.compaction("k", "b", "S1", "b"),
            pi.user("c", "k", "Between."),
            pi.user("d", "c", "Kept second."),
            pi.compaction("n", "d", "S2", "d"),
            pi.user("e", "n", "Thanks."),
        )
    )
    assert session.sent() == ["S2", "Kept second.", "Thanks."]
    assert session.said() == ["Plan.", "Kept first.", "Between.", "Kept second.", "Thanks."]


def test_a_cancelled_tool_in_mixed_shapes_with_a_stale_leaf_record(load, tau):
    old = {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [{"type": "toolCall", "id": "h1", "name": "search", "arguments": {}}],
    }
    tool = {"role": "tool", "name": "search", "tool_call_id": "h1", "ok": True, "content": "here"}
    future = {**tau.user("u2", "a2", "Stop."), "future_field": {"kept": True}}
    session = load(
        tau.session(
            tau.record("session_info", "i", None, created_at=1.0, title="Hinges"),
            tau.user("u1", "i", "Find it."),
            tau.record("message", "a1", "u1", message=old),
            tau.record("message", "r1", "a1", message=tool),
            tau.assistant("a2", "r1", "Opening.", "h2"),
            future,
            tau.record("leaf", "l", None, **{"entry_id": "u1"}),
        )
    )
    assert session.sent() == ["Find it.", "Looking.", "here", "Opening.", "interrupted", "Stop."]
    assert session.sessions.view(session.id).name == "Hinges"
    assert session.records()[5] == future
    assert session.again().report.kept == 0


def test_two_branches_are_not_mixed_and_a_label_stays_on_its_own(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "Round or square?"),
            pi.user("b", "a", "Round is usual."),
            pi.user("c", "b", "With a heliotrope rim."),
            pi.user("d", "b", "No, square."),
            pi.label("l", "d", "c", "the rim idea"),
        )
    )
    assert session.sent() == ["Round or square?", "Round is usual.", "No, square."]
    assert session.sessions.view(session.id).labels == {"c": "the rim idea"}


def test_an_unknown_boundary_and_an_unknown_parent_lose_nothing(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "Cut."),
            pi.user("b", "a", "Drill."),
            pi.compaction("k", "b", "S", "ffffffff"),
            pi.user("c", "eeeeeeee", "Sand."),
            pi.user("d", "c", "Sanded."),
        )
    )
    assert session.sent() == ["S", "Sand.", "Sanded."]
    assert session.parent("c") == "k"
    assert session.reasons == [(4, "boundary_unknown"), (5, "unknown_parent")]
    assert len(session.sessions.tree(session.id).nodes) == 5


@pytest.mark.parametrize("boundary", [{}, {"firstKeptEntryId": "k"}, {"firstKeptEntryId": None}])
def test_a_compaction_that_keeps_nothing_is_no_fault(load, pi, boundary):
    kept = pi.record("compaction", "k", "a", summary="S", tokensBefore=1, **boundary)
    session = load(pi.session(pi.user("a", None, "A"), kept, pi.user("b", "k", "B")))
    assert session.sent() == ["S", "B"]
    assert session.reasons == []


def test_a_damaged_header_is_inferred_and_the_file_stays_as_it_is(load, pi, tau):
    data = b'{"type":"session","vers\n' + pi.file(
        pi.user("a", None, "A"), pi.assistant("b", "a", "B"), pi.user("c", "b", "C")
    )
    session = load(data)
    assert session.sent() == ["A", "B", "C"]
    assert session.reasons == [(None, "header_missing"), (1, "unreadable_line")]
    assert (session.report.format, session.id) == ("pi", "pi-a")
    assert session.path.read_bytes() == data
    assert session.again().report.kept == 0


def test_without_a_readable_first_line_tau_is_told_by_its_numbers_and_names(load, tau):
    session = load(b'{"id":"i","ti\n' + tau.file(tau.user("a", None, "A"), tau.user("b", "a", "B")))
    assert (session.report.format, session.sent()) == ("tau", ["A", "B"])


def test_glued_records_are_both_there_and_braces_in_a_text_are_text(load, pi):
    glued = pi.dump(pi.user("b", "a", "Text with }{ inside.")) + pi.dump(pi.user("c", "b", "C"))
    session = load(pi.session(pi.user("a", None, "A"), glued, pi.user("d", "c", "D")))
    assert session.sent() == ["A", "Text with }{ inside.", "C", "D"]
    assert session.reasons == [(3, "glued_records")]
    assert session.report.repaired == 2


def test_a_deep_chain_with_side_branches_is_walked_without_recursion(load, pi):
    ids = [f"{n:08x}" for n in range(1_500)]
    records = [
        pi.user(entry_id, ids[n - 1] if n else None, f"step {n}") for n, entry_id in enumerate(ids)
    ]
    records[600:600] = [pi.user("side1", ids[500], "aside")]
    session = load(pi.session(*records))
    assert len(session.sent()) == 1_500
    assert len(session.sessions.tree(session.id).nodes) == 1_501
    assert len(session.replay("pi")["messages"]) == 1_500


def test_edits_and_a_branch_summary_leave_the_log_as_it_was(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "Build a box."),
            pi.assistant("b", "a", "Plan: plywood."),
            pi.user("c", "b", "Price?"),
            pi.record("branch_summary", "s", "b", fromId="c", summary="Too dear."),
            pi.message("t", "s", "assistant", [{"type": "thinking", "thinking": "Half a"}]),
            pi.record("context_edit", "e", "t", targetId="t", replacement=None),
            pi.record(
                "context_edit",
                "f",
                "e",
                targetId="b",
                replacement={"content": [{"type": "text", "text": "Plan: old boards."}]},
            ),
            pi.record("usage", "u", "f", kind="cache_warm", provider="p", model="m", usage={}),
            pi.assistant("g", "u", "Old boards it is."),
        )
    )
    assert session.sent() == ["Build a box.", "Plan: old boards.", "Too dear.", "Old boards it is."]
    assert "Plan: plywood." in session.said()


def test_messages_that_a_compaction_carries_are_not_doubled(load, pi):
    kept = [pi.user("b", "a", "Cut the roof."), pi.assistant("c", "b", "Roof cut.")]
    tail = [record["message"] for record in kept]
    carried = pi.record("compaction", "k", "c", summary="S", tokensBefore=1, retainedTail=tail)
    session = load(pi.session(pi.user("a", None, "Old."), *kept, carried, pi.user("d", "k", "D")))
    assert session.sent() == ["S", "Cut the roof.", "Roof cut.", "D"]
    assert session.reasons == []
    rows = session.replay("pi")["messages"]
    assert [row.get("summary", row.get("content")) for row in rows] == ["S", "D"]


@pytest.mark.parametrize("depth", [900, 100_000])
def test_deep_arguments_are_kept_as_text_and_the_result_stays_paired(load, pi, depth):
    call = pi.dump(pi.assistant("b", "a", "", "c1"))
    deep = call.replace(b'{"path":"a.txt"}', b'{"a":' * depth + b"1" + b"}" * depth)
    session = load(
        pi.session(pi.user("a", None, "Draw."), deep, pi.result("r", "b", "c1", "drawn"))
    )
    rows = session.sessions.context(session.id).rows
    assert [row.kind for row in rows] == ["message"] * 3
    assert rows[1].content[0].arguments == {"a": {"kept_raw": "too_deep"}}
    assert session.by_id["r"].head.owner == "b"
    assert session.reasons == [(3, "too_deep")]
    assert session.by_id["b"].body.extra["pi"]["raw"].encode() == deep
    assert session.again().report.kept == 0


def test_a_record_that_grows_while_it_is_read_is_imported_once(load, pi):
    """The first cut is inside a character, the second before the newline."""
    third = pi.record("message", "c", "b", message={"role": "user", "content": "Holz 木."})
    line = json.dumps(third, ensure_ascii=False).encode()
    cut = line.index("木".encode()) + 1
    start = pi.session(pi.user("a", None, "A"), pi.user("b", "a", "B"))
    session = load(start + line[:cut])
    assert session.sent() == ["A", "B"]
    session.path.write_bytes(start + line)
    assert session.again().sent() == ["A", "B", "Holz 木."]
    session.path.write_bytes(start + line + b"\n" + pi.file(pi.user("d", "c", "D")))
    assert session.again().sent() == ["A", "B", "Holz 木.", "D"]
    assert len(session.events) == 4


def test_control_sequences_are_kept_in_the_log(load, pi):
    text = "real\rspoofed \x1b[2J\x1b]0;title\x07 \x9b31m \u202egnp.exe"
    named = pi.record("session_info", "n", None, name="Fan\x1b]0;x\x07 test")
    session = load(pi.session(named, pi.user("a", "n", text)))
    assert session.said() == [text]
    assert session.records()[1]["message"]["content"] == text


def test_a_damaged_line_in_the_middle_is_kept_with_its_bytes(load, tool):
    broken = b'{"type":"message","id":"b","broken\xff'
    session = load(tool.session(tool.user("a", None, "A"), broken, tool.user("c", "a", "C")))
    assert session.said() == ["A", "C"]
    mark = session.events[1]
    assert (mark.head.kind, mark.head.entry_id) == ("foreign_recorded", None)
    assert mark.head.timestamp is None
    start = session.path.read_bytes().index(broken)
    assert (mark.body.start, mark.body.end) == (start, start + len(broken) + 1)
    assert mark.body.raw_base64 is not None
    assert mark.body.problem == "unreadable_line"


def test_numbers_that_json_does_not_know_survive(load, pi):
    raw = b'{"type":"custom","id":"c","parentId":null,"timestamp":"2026-03-01T09:00:01.000Z",'
    raw += b'"customType":"x","data":{"nan":NaN,"inf":Infinity,"big":12345678901234567890123}}'
    data = load(pi.session(raw)).by_id["c"].body.data
    assert data["nan"] != data["nan"]
    assert (data["inf"], data["big"]) == (float("inf"), 12345678901234567890123)


def test_runs_of_digits_that_are_nearly_too_long_are_passed_in_one_go(load, pi):
    """Each run is one digit short of too long: searched from each digit, this takes minutes."""
    text = ("9" * 4_300 + " ") * 500
    session = load(pi.session(pi.user("a", None, text)))
    assert session.said() == [text]
    assert session.reasons == []


@pytest.mark.parametrize("nuls", [b"\0", b"\0" * 5_000])
def test_runs_of_nul_bytes_hide_no_record(load, tool, nuls):
    """A disk that lost what was written gives zeros: before, behind and in the place of lines."""
    a, b, c = (tool.user(i, None, i) for i in "abc")
    data = tool.session(a, nuls + tool.dump(b) + nuls, nuls, c)
    session = load(data + nuls)
    assert session.said(leaf="b") == ["b"]
    assert session.said() == ["c"]
    assert [reason for _, reason in session.reasons] == [
        "nul_run",
        "nul_run",
        "unreadable_line",
        "torn_tail",
    ]
    assert session.report.foreign == 1
    assert session.report.bytes_unread == 0


def test_a_line_break_inside_a_text_is_put_right(load, tool):
    raw = tool.dump(tool.user("b", "a", "one@two")).replace(b"@", b"\n")
    session = load(tool.session(tool.user("a", None, "A"), raw, tool.user("c", "b", "C")))
    assert session.said() == ["A", "one\ntwo", "C"]
    assert [reason for _, reason in session.reasons] == ["raw_newline"]
    assert session.report.repaired == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_in_another_encoding_is_refused_by_its_name_and_accounted_for(load, pi, encoding):
    data = pi.session(pi.user("a", None, "A")).decode().encode(encoding)
    with pytest.raises(UnsupportedFile, match=r"UTF-(16|32).*convert it to UTF-8") as caught:
        load(data)
    assert caught.value.reason == "unsupported_encoding"
    assert caught.value.report.bytes_unread == len(data)
