"""A query that is none is refused, with what would be one."""

from math import inf, nan

import pytest

from tapefold.domain.errors import InvalidValue
from tapefold.projections.opening import log_of, read_model, runner
from tapefold.projections.trace_text.searching import Query, TextSearch


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mode": "fuzzy"}, "no way to search; there are words, literal, both"),
        ({"limit": None}, "a whole number"),
        ({"limit": inf}, "a whole number"),
        ({"since": nan}, "'since' is in seconds since 1970"),
        ({"until": "2026"}, "'until' is in seconds since 1970"),
    ],
)
def test_a_query_that_is_none_is_refused_whatever_its_text(shop, wrong, said):
    runner(shop.sessions, "trace_text").run(until_caught_up=True)
    model = read_model(shop.sessions, "trace_text")
    with model.reading() as build:
        search = TextSearch(build.connection, log_of(shop.sessions))
        for text in ("hello", " "):
            with pytest.raises(InvalidValue, match=said):
                search.search(Query(text, **wrong))
        assert len(search.search(Query("hello", limit=-3, until=inf))) == 1
    model.close()
