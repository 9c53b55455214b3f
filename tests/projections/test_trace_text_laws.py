"""The full text is the same however a tape comes, and a search finds what a plain look finds."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapefold import Sessions
from tapefold.domain.calls import _gone_calls
from tapefold.domain.content import plain_text
from tapefold.domain.nodes import MessageNode
from tapefold.projections.log import Log
from tapefold.projections.trace_text import writing
from tapefold.projections.trace_text.projection import TraceText
from tapefold.projections.trace_text.searching import Query, TextSearch
from tapefold.testing.strategies import families

PROJECTION = TraceText()
BITS = (
    "alpha", "Alpha", "BETA", "beta gamma", "Straße", "STRASSE", "naïve", "日本語", "foo_bar",
    "a*b", '"quoted"', "NEAR", "AND", "OR", "NOT", "100%", "x%y", "c:\\d", "don't", "→", "😀",
    "İstanbul", "ﬁn", "K", "e\u0301", "\ud800", "a\0b", "(", ")", "^", "-", "+", ":", "tab\there",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(BITS), min_size=1, max_size=6).map(" ".join)
QUERIES = st.one_of(
    TEXTS,
    st.sampled_from(BITS),
    st.tuples(TEXTS, st.integers(0, 9), st.integers(1, 12)).map(lambda t: t[0][t[1] :][: t[2]]),
    st.text("aAbBpPsS xX%_\"'*()^-+:.ßéïñ日→😀\0\n", max_size=4),
)
KINDS = ("message", "result", "summary", "branch_summary")


def new_tables() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE tapefold_positions (session_id TEXT, position INTEGER)")
    for table in PROJECTION.TABLES:
        for statement in table.statements():
            connection.execute(statement)
    return connection


def dump(connection: sqlite3.Connection) -> list:
    return connection.execute(
        "SELECT * FROM tt_texts ORDER BY session_id, item, part, number"
    ).fetchall()


def scatter_texts(family, texts) -> None:
    """Messages, versions, results and summaries with these texts."""
    mids: dict[int, list[str]] = {}
    for n, text in enumerate(texts):
        at = n % len(family)
        tape, known = family[at], mids.setdefault(at, [])
        stamp = f"2026-03-0{1 + n % 9}T10:00:00Z" if n % 4 else None
        if n % 5 == 4:
            tape.compact(text, timestamp=stamp)
        elif n % 5 == 3 and known:
            tape.version(known[n % len(known)], text, status=("sent", "pending")[n % 2])
        elif n % 7 == 6 and known:
            tape.retract(known[n % len(known)])
        else:
            known.append(tape.user(text, timestamp=stamp))


def naive_texts(sessions: Sessions, session_id: str) -> dict[tuple[str, int], str]:
    """(session, position) to the text of every entry that shows, read from the tapes."""
    state = sessions.state(session_id)
    found = {}
    for node in state.entries.values():
        seq = node.seq
        if isinstance(node, MessageNode):
            message = state.message(node.message_id)
            winner = message.winner(True)
            if winner is None:
                continue
            seq = winner.seq
            if winner.role == "tool_result" and winner.owner and winner.call_ids:
                lost = _gone_calls(state.message(winner.owner))
                if lost is None or winner.call_ids[0] in lost:
                    continue
        elif node.kind not in ("compaction", "handoff", "branch_summary"):
            continue
        where = state.locate(seq)
        (event,) = sessions.tapes.events_at(where[0], [where[1]])
        text = getattr(event.body, "summary", None) or plain_text(
            getattr(event.body, "content", None) or ()
        )
        if text:
            found[where] = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return found


def tokens(text: str) -> list[str]:
    """Words as `unicode61` cuts them: letters and digits, without accents."""
    bare = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", text.casefold()))
    return re.findall(r"[^\W_]+", bare)


def has_words(text: str, query: str) -> bool:
    """Whether each word of a query stands in a text, cut into the same pieces."""
    said = tokens(text)
    parts = [tokens(word) for word in query.split()]
    parts = [part for part in parts if part]
    if not parts:
        return False
    return all(any(said[i : i + len(part)] == part for i in range(len(said))) for part in parts)


def check_family(family, texts, queries, data) -> None:
    backlog = data.draw(st.sampled_from([1, 5, 4_000]))
    with patch.object(writing, "BACKLOG", backlog):  # few texts fill it
        check_in_pieces(family, texts, queries, data)


def check_in_pieces(family, texts, queries, data) -> None:
    scatter_texts(family, texts)
    with Sessions("memory:") as sessions:
        for tape in family:
            sessions.recorder.insert_events(
                [sessions.mapper.to_stored_event(event) for event in tape.events]
            )
        log = Log(sessions.recorder, sessions.mapper)
        pieces, whole = new_tables(), new_tables()
        for tape in family:
            fold = PROJECTION.open(log, tape.session_id, 0)
            for row in log.tape(tape.session_id, 0, 1 << 60):
                fold.apply(log.event(row))
                choice = data.draw(st.integers(0, 5))
                if choice < 3:
                    fold.flush(pieces)
                if choice == 0:
                    fold = PROJECTION.open(log, tape.session_id, row.position)
            fold.flush(pieces)
            pieces.execute(
                "INSERT INTO tapefold_positions VALUES (?, ?)", (tape.session_id, tape.position)
            )
            fold = PROJECTION.open(log, tape.session_id, 0)
            for row in log.tape(tape.session_id, 0, 1 << 60):
                fold.apply(log.event(row))
            fold.flush(whole)
            assert not list(PROJECTION.against_kernel(pieces, log, tape.session_id, tape.position))
        assert dump(pieces) == dump(whole)
        pieces.execute("INSERT INTO tt_words (tt_words) VALUES ('integrity-check')")
        search = TextSearch(pieces, log)
        for text in queries:
            check_query(sessions, search, family, text)
        for tape in family:
            PROJECTION.forget(pieces, tape.session_id)
        assert dump(pieces) == []
        for word in ("alpha", "beta", "near", "quoted"):
            sql = "SELECT count(*) FROM tt_words WHERE tt_words MATCH ?"
            assert pieces.execute(sql, (word,)).fetchone() == (0,)


def check_query(sessions, search, family, text) -> None:
    own = {}
    by_session = {}
    for tape in family:
        said = naive_texts(sessions, tape.session_id)
        by_session[tape.session_id] = said
        own |= {key: value for key, value in said.items() if key[0] == tape.session_id}
    needle = re.sub("[\ud800-\udfff]", "\ufffd", text)
    for session_id, said in (None, own), *by_session.items():
        for mode, fits in (
            ("literal", lambda one: needle.casefold() in one.casefold()),
            ("words", lambda one: has_words(one, needle)),
            (
                "both",
                lambda one: (
                    has_words(one, needle)
                    or all(word.casefold() in one.casefold() for word in needle.split())
                ),
            ),
        ):
            query = Query(text, mode, session_id, kinds=KINDS, limit=100)
            hits = [(hit.session_id, hit.position) for hit in search.search(query)]
            true = {key for key, one in said.items() if fits(one)} if text.strip() else set()
            assert len(hits) == len(set(hits))
            assert set(hits) == true, (mode, text, session_id)


@settings(max_examples=15, deadline=None)
@given(
    families(hostile=True, max_size=20),
    st.lists(TEXTS, max_size=12),
    st.lists(QUERIES, min_size=1, max_size=3),
    st.data(),
)
def test_pieces_and_the_whole_make_the_same_texts_and_a_search_finds_what_a_look_finds(
    family, texts, queries, data
):
    check_family(family, texts, queries, data)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    families(hostile=True),
    st.lists(TEXTS, max_size=20),
    st.lists(QUERIES, min_size=1, max_size=4),
    st.data(),
)
def test_hundreds_of_families_are_searched_as_by_a_look(family, texts, queries, data):
    check_family(family, texts, queries, data)
