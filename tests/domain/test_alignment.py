"""Which items of two sequences are the same, and what two texts have in common."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tapefold.domain.alignment import align
from tapefold.domain.textdiff import Piece, diff_texts

small = st.lists(st.integers(0, 6), max_size=30)
texts = st.text(alphabet="ab \n.x", max_size=60)


def length_of_longest(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(row[j], before[j + 1]))
    return row[-1]


@given(small, small)
@settings(max_examples=100)
def test_pairs_are_equal_items_in_the_order_of_both(a, b):
    pairs = align(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < x and j < y for (i, j), (x, y) in pairwise(pairs))


@given(st.lists(st.integers(0, 2), max_size=12), st.lists(st.integers(0, 2), max_size=12))
@settings(max_examples=60)
def test_where_no_item_stands_alone_as_many_as_possible_are_found(a, b):
    doubled_a, doubled_b = a + a, b + b
    assert len(align(doubled_a, doubled_b)) == length_of_longest(doubled_a, doubled_b)


@given(small)
def test_a_sequence_is_all_of_itself(a):
    assert align(a, a) == [(n, n) for n in range(len(a))]


def test_unique_items_are_found_however_far_they_have_moved():
    a = [*range(1000), *["x"] * 1000]
    b = [*["x"] * 1000, *range(1000)]
    assert len(align(a, b)) == 1000


@given(texts, texts)
@settings(max_examples=150)
def test_the_pieces_of_two_texts_give_both_back(a, b):
    pieces = diff_texts(a, b)
    assert "".join(text for op, text in pieces if op in "=-") == a
    assert "".join(text for op, text in pieces if op in "=+") == b
    assert all(text for _, text in pieces)


def test_words_that_changed_are_told_from_those_that_stay():
    assert diff_texts(
        "The left plank is long.\nAs said.\n", "The right plank is long!\nAs said.\n"
    ) == (
        Piece("=", "The "),
        Piece("-", "left"),
        Piece("+", "right"),
        Piece("=", " plank is long"),
        Piece("-", "."),
        Piece("+", "!"),
        Piece("=", "\nAs said.\n"),
    )


def test_texts_that_have_little_in_common_are_told_as_a_whole():
    a, b = "Glue it, then wait a day.", "Cut: rain came from north"
    assert diff_texts(a, b) == (Piece("-", a), Piece("+", b))


def test_long_texts_that_repeat_themselves_are_still_compared():
    """A longest common subsequence of these would take a hundred times a hundred million steps."""
    a, b = "x " * 100_000, "x y " * 100_000
    pieces = diff_texts(a, b)
    assert "".join(text for op, text in pieces if op in "=+") == b
