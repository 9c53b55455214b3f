"""Parent links as files have them, made into a tree."""

from hypothesis import given
from hypothesis import strategies as st

from tapefold.interop.links import ROOT, UNKNOWN, resolve_links


def parents(*given_parents, marks=()):
    entries = [row not in marks for row in range(len(given_parents))]
    return list(resolve_links(given_parents, entries).parents)


def test_known_parents_stay_whether_they_come_before_or_after():
    assert parents(1, ROOT, 0) == [1, ROOT, 0]


def test_an_entry_that_is_its_own_parent_becomes_a_root():
    links = resolve_links([ROOT, 1])
    assert (list(links.parents), links.self_parents) == ([ROOT, ROOT], [1])


def test_of_a_ring_the_first_member_in_the_file_becomes_a_root():
    links = resolve_links([ROOT, 3, 1, 2])
    assert (list(links.parents), links.rings) == ([ROOT, ROOT, 1, 2], [1])


def test_what_hangs_under_a_ring_stays_there():
    assert parents(2, 0, 1, 0) == [ROOT, 0, 1, 0]


def test_an_unknown_parent_is_replaced_by_the_entry_before():
    links = resolve_links([ROOT, 0, UNKNOWN])
    assert (list(links.parents), links.unknown) == ([ROOT, 0, 1], [2])


def test_without_an_earlier_entry_an_unknown_parent_makes_a_root():
    assert parents(UNKNOWN, 0) == [ROOT, 0]


def test_nothing_is_hung_under_its_own_descendant():
    """Rows 1 and 2 hang under row 3, whose parent is unknown: the nearest other one is row 0."""
    assert parents(ROOT, 3, 1, UNKNOWN) == [ROOT, 3, 1, 0]


def test_the_first_unknown_parent_is_hung_before_the_second_is_looked_at():
    """Row 0 hangs under row 3. Row 2 comes under row 1, and row 3 under row 2, not under row 0."""
    assert parents(3, ROOT, UNKNOWN, UNKNOWN) == [3, ROOT, 1, 2]


def test_nothing_is_hung_under_a_mark():
    assert parents(ROOT, 0, UNKNOWN, marks={1}) == [ROOT, 0, 0]


def by_the_words_of_the_rules(given_parents, entries):
    """The rules done naively, as they are written."""
    out = [ROOT if parent == row else parent for row, parent in enumerate(given_parents)]
    for row in range(len(out)):
        if row in walk(out, row):
            out[row] = ROOT
    for row, parent in enumerate(out):
        if parent == UNKNOWN:
            earlier = (r for r in reversed(range(row)) if entries[r] and row not in walk(out, r))
            out[row] = next(earlier, ROOT)
    return out


def walk(links, row):
    """The ancestors of a row."""
    seen = []
    row = links[row]
    while row >= 0 and row not in seen:
        seen.append(row)
        row = links[row]
    return seen


@given(st.data())
def test_the_fast_way_gives_what_the_rules_say(data):
    size = data.draw(st.integers(1, 12))
    given_parents = data.draw(
        st.lists(st.integers(UNKNOWN, size - 1), min_size=size, max_size=size)
    )
    entries = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    got = list(resolve_links(given_parents, entries).parents)
    assert got == by_the_words_of_the_rules(given_parents, entries)


def test_a_hundred_thousand_entries_of_any_shape_are_resolved():
    size = 100_000
    for shape in (
        [row - 1 for row in range(size)],
        [row + 1 for row in range(size - 1)] + [ROOT],
        [row + 1 for row in range(size - 1)] + [0],
        [UNKNOWN] * size,
        [size // 2 + row for row in range(size // 2)] + [UNKNOWN] * (size // 2),
        [size - 1 - row for row in range(size // 2)] + [UNKNOWN] * (size // 2),
    ):
        links = resolve_links(shape)
        assert UNKNOWN not in links.parents
        assert ROOT in links.parents
