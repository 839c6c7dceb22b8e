"""How verbs are called on the screen: their keys, what is said while one runs, and what is asked before."""

from woodwind.model.sections import Row, Verb

KEYS = {
    Verb.ATTACH: "a",
    Verb.ANSWER: "y",
    Verb.FIX: "f",
    Verb.SHIP: "S",
    Verb.REVIEW: "r",
    Verb.MERGE: "m",
    Verb.SEND: "s",
    Verb.PAUSE: "p",
    Verb.RESUME: "u",
    Verb.EXPLAIN: "e",
    Verb.REMOVE: "x",
    Verb.UNDO: "z",
    Verb.DISMISS: "d",
}

DOING = {
    Verb.ANSWER: "answering",
    Verb.SHIP: "shipping",
    Verb.MERGE: "merging",
    Verb.SEND: "sending",
    Verb.PAUSE: "pausing",
    Verb.RESUME: "resuming",
    Verb.REMOVE: "removing",
    Verb.UNDO: "undoing",
}

# What destroys or lands asks first.
QUESTIONS = {
    Verb.SHIP: "Ship {name}? Its work is committed, merged, verified and landed; then it is parked.",
    Verb.MERGE: "Merge {name}? Its commits are verified and landed; the worker stays.",
    Verb.REMOVE: "Remove {name}? Its worktree is parked whole; `ww restore` brings it back.",
    Verb.UNDO: "Take this back: {name}?",
}

# What is there for every row: key, name, and the action of the app. The first stays longest where room is short.
GENERAL = (
    ("?", "help", "help"),
    ("n", "new", "new"),
    ("/", "filter", "filter"),
    ("q", "quit", "quit"),
    ("v", "preview", "preview"),
)

HELP = "\n".join(
    [
        *(f"{key}  {verb.value}" for verb, key in KEYS.items()),
        "",
        "Enter  what the row shows at its end: the likeliest of these",
        "n  start a worker          /  filter the rows",
        "v  show or hide the terminal of the selected worker",
        "Ctrl-P  all commands       q  leave; the agents go on",
    ]
)


def event_of(row: Row) -> int:
    """The number of the event that a row in the background tells of."""
    return int(row.key.rpartition(" ")[2])
