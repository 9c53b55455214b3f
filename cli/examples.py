"""Examples of each command: shown by its --help, and run one after the other by docs/cli.md.

They are about `short-talk`, the session of examples/short-talk.pi.jsonl, and run in the order in
which the help lists the commands.
"""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    # in and out
    "import": (
        "tapefold import examples/short-talk.pi.jsonl",
        "tapefold import --dry-run examples",
    ),
    "export": (
        "tapefold export short-talk --format pi -o for-pi.jsonl",
        "tapefold export short-talk --format markdown",
    ),
    # look
    "sessions": (
        "tapefold sessions",
        "tapefold sessions --grep plank --since 2026-01-01",
        "tapefold sessions --sort messages --limit 5",
    ),
    "view": (
        "tapefold view last",
        "tapefold view short-talk --at 6",
        "tapefold view short-talk --leaf a0000007",
    ),
    "tree": (
        "tapefold tree short-talk",
        "tapefold tree short-talk --only user",
    ),
    "replay": (
        "tapefold replay short-talk",
        "tapefold replay short-talk --from 9 --to 10",
    ),
    "context": (
        "tapefold context short-talk",
        "tapefold context short-talk --at 4",
        "tapefold context short-talk --policy full",
    ),
    "show": (
        "tapefold show short-talk 4",
        "tapefold show short-talk a0000005 --raw",
    ),
    "diff": (
        "tapefold diff short-talk 6",
        "tapefold diff short-talk a0000007 a0000009",
    ),
    "tape": ("tapefold tape short-talk --from 6 --to 7",),
    "search": (
        "tapefold search plank",
        "tapefold search 'lan' --literal --role user",
        "tapefold search plank --session short-talk --kind call",
    ),
    "trace": (
        "tapefold trace short-talk",
        "tapefold trace short-talk --entry 5",
    ),
    # go on
    "new": ("tapefold new --title 'A gate' --id gate",),
    "append": (
        "tapefold append short-talk 'And the back?'",
        "tapefold append short-talk 'Birch.' --role assistant --under a0000007",
    ),
    "model": ("tapefold model short-talk demo-2 --provider demo",),
    "thinking": ("tapefold thinking short-talk high",),
    "compact": (
        "tapefold compact short-talk --keep 0 --show-covered",
        "tapefold compact short-talk --keep 0 --summary 'The left plank is 118 cm.'",
    ),
    "reset-summary": ("tapefold reset-summary short-talk",),
    "handoff": ("tapefold handoff short-talk 'The left plank is 118 cm. Next: the right one.'",),
    # edit
    "revise": ("tapefold revise short-talk a0000009 'And the right plank?' --reason clearer",),
    "retract": ("tapefold retract short-talk a0000007",),
    "restore": (
        "tapefold retract short-talk a0000007",
        "tapefold restore short-talk a0000007",
    ),
    "label": (
        "tapefold label short-talk 4 measured",
        "tapefold label short-talk 4 --clear",
    ),
    "title": ("tapefold title short-talk 'A shelf of birch'",),
    "repair": ("tapefold repair short-talk --dry-run",),
    # branch and fork
    "branch": (
        "tapefold branch short-talk a0000007 --show-abandoned",
        "tapefold branch short-talk a0000007 --summary 'The right plank is still to be measured.'",
        "tapefold branch short-talk a0000009 --before",
    ),
    "fork": ("tapefold fork short-talk --at 6 --id oak",),
    "forks": ("tapefold forks short-talk",),
    # read models
    "projections": (
        "tapefold projections run --once",
        "tapefold projections status",
        "tapefold projections rebuild effective_view",
        "tapefold projections verify branch_tree",
    ),
    # care
    "events": (
        "tapefold events stats",
        "tapefold events check",
    ),
    "doctor": (
        "tapefold doctor",
        "tapefold doctor short-talk --json",
    ),
    "completion": ("tapefold completion bash",),
}
"""Name of a command to what may be typed."""
