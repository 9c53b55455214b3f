"""What the stepping screen shows, block by block, is what `view` and `context` print there."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from tapefold import build_context
from tapefold.cli.follower import Follower
from tapefold.cli.prompt import print_row
from tapefold.cli.scrolling import Scroll
from tapefold.cli.stepbodies import Entries
from tapefold.cli.terminal import Lines
from tapefold.cli.transcript import print_item
from tapefold.domain.content import plain_text
from tapefold.domain.order import sort_rows
from tapefold.domain.view import Bodies, order_key
from tapefold.testing import Tape
from tapefold.testing.strategies import families

WIDTH = 80


def stepped(tape, at):
    follower = Follower(tape.state(at=1))
    for event in tape.events[1:at]:
        follower.step(event)
    return Entries(follower, Held(Bodies(follower.state, tape.tapes)), WIDTH, False)


@dataclass
class Held:
    """Bodies, and nothing that forgets them."""

    bodies: Bodies


@given(families(hostile=True), st.data())
def test_the_blocks_of_the_view_are_what_view_prints(family, data):
    for tape in family:
        at = data.draw(st.integers(1, tape.position))
        entries = stepped(tape, at)
        view, paper = tape.view(at=at), Lines(WIDTH)
        printed = []
        for item in sort_rows(view.items, order_key):
            print_item(paper, view, item, False)
            printed.append(paper.take())
        assert [entries.view(place) for place in entries.order] == printed


@given(families(hostile=True), st.data())
def test_the_blocks_of_the_context_are_what_context_prints(family, data):
    for tape in family:
        at = data.draw(st.integers(1, tape.position))
        entries = stepped(tape, at)
        paper = Lines(WIDTH)
        for row in build_context(tape.view(at=at)).rows:
            paper.line()
            print_row(paper, "", row, False)
        blocks = [entries.context(place) for place in entries.context_order()]
        shown = [line for block in blocks if not is_left_out(block) for line in block]
        assert shown == paper.take()


def test_a_system_message_that_a_summary_tells_anew_stands_in_neither():
    tape = Tape()
    tape.user("A", id="a")
    tape.message("system", "Old.")
    told = [{"role": "system", "content": [{"type": "text", "text": "Anew."}]}]
    tape.compact("S", keep="a", kept=told)
    tape.message("system", "Later.")
    entries, paper = stepped(tape, tape.position), Lines(WIDTH)
    rows = build_context(tape.view()).rows
    assert [plain_text(row.content) for row in rows] == ["Anew.", "S", "A", "Later."]
    for row in rows:
        paper.line()
        print_row(paper, "", row, False)
    shown = [line for place in entries.context_order() for line in entries.context(place)]
    assert shown == paper.take()


def is_left_out(block):
    return any(span.text.count(" is left out: ") for line in block for span in line)


# -- scrolling ---------------------------------------------------------------------------------


def scroll_of(*sizes):
    made = []

    def lines(n):
        made.append(n)
        return [(n, line) for line in range(sizes[n])]

    return Scroll(len(sizes), lines), made


def test_only_the_blocks_that_are_seen_are_made():
    scroll, made = scroll_of(*[3] * 1000)
    scroll.show(999, 7)
    assert scroll.seen(7) == [
        (997, 2),
        *((998, n) for n in range(3)),
        *((999, n) for n in range(3)),
    ]
    assert sorted(made) == [997, 998, 999]


def test_of_a_block_that_is_longer_than_the_screen_the_begin_is_seen():
    scroll, _ = scroll_of(3, 20, 3)
    scroll.show(1, 5)
    assert scroll.seen(5) == [(1, n) for n in range(5)]


@given(
    st.lists(st.integers(0, 5), max_size=12),
    st.integers(1, 8),
    st.lists(st.integers(-9, 9), max_size=8),
    st.data(),
)
def test_a_screen_is_always_a_part_of_the_text_and_full_if_there_is_enough(
    sizes, height, moves, data
):
    scroll, _ = scroll_of(*sizes)
    text = [(n, line) for n, size in enumerate(sizes) for line in range(size)]
    if sizes:
        scroll.show(data.draw(st.integers(0, len(sizes) - 1)), height)
    seen = scroll.seen(height)
    for by in moves:
        top = text.index(seen[0]) if seen else 0
        scroll.move(by)
        seen = scroll.seen(height)
        last = max(len(text) - height, 0)
        start = min(max(top + by, 0), last)
        assert seen == text[start : start + height]
