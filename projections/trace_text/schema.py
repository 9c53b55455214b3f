"""The tables of the full text. docs/read-models.md explains each column.

`tt_texts` is the truth; `tt_words` is an index over it, without content of its own: its rows have
the rowid of their text, and it can be made anew from the texts. It holds words as `unicode61`
cuts them, of the text with letter case folded; how long a text is does not count for its score.

There is no trigram index. Over texts of 400 characters it took six times as long to write as the
words, where looking through all texts takes some 3 ms for each million characters. A search for
a part of a text looks up the whole words in it, and looks through all texts where it has none.

The texts' rowids are not kept by `VACUUM`: never run that on this file, build it anew.
"""

from __future__ import annotations

from typing import Final

from ..declaration import Table

WORDS: Final = (
    "CREATE VIRTUAL TABLE tt_words USING fts5 "
    "(text, content = '', columnsize = 0, tokenize = 'unicode61 remove_diacritics 1')"
)
INDEXED: Final = (
    "CREATE TABLE tapefold_indexed (one INTEGER PRIMARY KEY CHECK (one = 1), "
    "upto INTEGER NOT NULL, characters INTEGER NOT NULL)",
    "INSERT INTO tapefold_indexed VALUES (1, 0, 0)",
)
"""Texts up to this rowid are in the index; a few thousand newer ones wait, with so many characters,
and go in together. Each savepoint ends a piece of the index, so one by one they would make
thousands of tiny ones."""

TUNING: Final = (
    "INSERT INTO tt_words (tt_words, rank) VALUES ('hashsize', 8000000)",
    "INSERT INTO tt_words (tt_words, rank) VALUES ('automerge', 8)",
)
"""Fewer and larger pieces while much is written."""

TEXTS: Final = Table(
    "tt_texts",
    ("session_id", "item", "part", "number"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("item", "TEXT NOT NULL"),
        ("part", "TEXT NOT NULL"),
        ("number", "INTEGER NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("kind", "TEXT NOT NULL"),
        ("entry_id", "TEXT"),
        ("call_id", "TEXT"),
        ("name", "TEXT"),
        ("role", "TEXT"),
        ("status", "TEXT"),
        ("timestamp", ""),
        ("moment", "REAL"),
        ("is_plain", "INTEGER NOT NULL"),
        ("text", "TEXT NOT NULL"),
    ),
    (WORDS, *TUNING, *INDEXED),
)
"""One row a text: of a message only the version that shows (a draft has status `pending`), nothing
of one that is struck out. `kind`: message, thinking, call, result, summary, branch_summary, custom
or foreign. `item` is the message's id, or the entry's; `part` tells what a message holds (`said`)
from the facts about its calls (`facts`) and from other entries (`entry`). A fork has rows for what
stands on its own tape. `moment` is the time in seconds since 1970; `is_plain`: letter
case apart, nothing in the text changes when it is folded, and it has no NUL.
"""

TABLES: Final = (TEXTS,)
