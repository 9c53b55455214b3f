"""Which texts wait for the index of words, and when they go in."""

from __future__ import annotations

import sqlite3

import pytest

from tapefold.projections.reading import ReadModel
from tapefold.projections.trace_text import writing
from tapefold.projections.trace_text.folding import folded, is_plain
from tapefold.projections.trace_text.projection import TraceText
from tapefold.projections.trace_text.searching import Query, TextSearch

from .machinery import Shop


@pytest.fixture
def texts(tmp_path):
    """A store whose full text is built."""
    made = Shop(tmp_path / "sessions.db", TraceText())
    made.begin("a")
    made.say("a", "the pump runs at dawn")
    made.run()
    yield made
    made.close()


def waiting(shop):
    """How many texts of the live build are not in the index."""
    with sqlite3.connect(shop.live_file()) as connection:
        (number,) = connection.execute(
            "SELECT count(*) FROM tt_texts WHERE rowid > (SELECT upto FROM tapefold_indexed)"
        ).fetchone()
    connection.close()
    return number


def found(shop, text, **how):
    model = ReadModel(TraceText(), shop.log, shop.path)
    try:
        with model.reading() as build:
            return len(TextSearch(build.connection, shop.log).search(Query(text, **how)))
    finally:
        model.close()


def test_a_runner_that_has_caught_up_leaves_no_text_waiting(texts):
    texts.say("a", "the valve is closed")
    texts.run()
    assert waiting(texts) == 0


def test_a_rebuild_leaves_no_text_waiting(texts):
    for n in range(20):
        texts.say("a", f"line {n} of the log")
    texts.run()
    assert texts.rebuild().switched
    assert waiting(texts) == 0
    assert texts.rebuild(pause=say_at(texts, "switched")).switched
    assert waiting(texts) == 0
    assert found(texts, "said at the switch", mode="words") == 1


def say_at(shop, stage):
    def pause(reached):
        if reached == stage:
            shop.say("a", "this was said at the switch")

    return pause


def test_a_verified_build_that_is_not_switched_to_has_its_texts_indexed(texts):
    report = texts.rebuild(switch=False)
    path = texts.registry.path_of("trace_text", report.build)
    with sqlite3.connect(path) as connection:
        upto = connection.execute("SELECT upto FROM tapefold_indexed").fetchone()[0]
        last = connection.execute("SELECT max(rowid) FROM tt_texts").fetchone()[0]
    connection.close()
    assert upto == last


def test_few_large_texts_do_not_wait_as_many_small_ones_may(texts):
    size = writing.CHARACTERS // 3
    model = texts.live_build()
    try:
        with model.writing():
            for n in range(4):
                row = ("a", f"m{n}", "said", 0, n, "message", *[None] * 7, 1, "x" * size)
                writing.put_texts(model.connection, [row])
            upto = writing.indexed_upto(model.connection)
            last = model.connection.execute("SELECT max(rowid) FROM tt_texts").fetchone()[0]
            assert last - 1 <= upto <= last
    finally:
        model.close()


def test_what_waits_is_searched_with_the_filters_of_the_query(texts, monkeypatch):
    monkeypatch.setattr(TraceText, "settle", lambda self, connection: None)
    texts.begin("b")
    texts.say("b", "the pump stands still")
    texts.run()
    assert waiting(texts) == 1
    assert found(texts, "pump", mode="words") == 2
    assert found(texts, "pump", mode="words", session_id="b") == 1
    assert found(texts, "pump", mode="words", roles=("assistant",)) == 0


def test_a_plain_text_is_one_that_sqlite_folds_as_python_does():
    for character in map(chr, range(0x110000)):
        if "\ud800" <= character <= "\udfff":
            continue
        if is_plain(f"A{character}"):
            assert folded(character) in (character, character.lower())
            assert character.isascii() or folded(character) == character
    assert not is_plain("a\0b")
    assert not is_plain("Straße")
    assert is_plain("日本語 → naïve")
