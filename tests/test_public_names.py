"""The front door."""

from __future__ import annotations

import re
from pathlib import Path

import tapefold


def test_every_public_name_can_be_imported_and_is_told_to_type_checkers():
    text = Path(tapefold.__file__).read_text("utf-8")
    told = set(re.findall(r"import \w+ as (\w+)", text))
    for name in tapefold.__all__:
        assert getattr(tapefold, name) is not None
    assert told == set(tapefold.__all__) - {"__version__"}
