"""The protocols by kind of work: what a brief says about how to go about it. Users and projects can have their own."""

IMPLEMENT, REVIEW, RESEARCH = "implement", "review", "research"
READ_ONLY = (REVIEW, RESEARCH)

_ORIENT = """\
1. **Orient.** Read this brief, then what it points to. Look at the last commits and at the files near the work.
2. **Explore.** Find how the project does such things already, and where it is tested. Follow its style and words."""
_CLOSE = """\
4. **Test.** Cover what you changed with the project's own kind of tests, and see each new test fail once.
5. **Verify.** Run the checks below over the whole, not only your part. Read your own diff as a stranger would.
6. **Commit.** Small commits that each stand on their own; the subject says what and why."""

TEMPLATES = {
    "implement": f"""\
{_ORIENT}
3. **Implement.** The smallest change that does all of the task. Leave alone what the task does not ask for.
{_CLOSE}
""",
    "feature": f"""\
{_ORIENT}
3. **Implement.** First what a user will see and type, then the parts behind it. What goes wrong gets an error that
   says what to do. Documentation and changelog are part of the feature where the project has them.
{_CLOSE}
""",
    "bugfix": f"""\
{_ORIENT}
3. **Find the root cause first.** Reproduce the fault with a test that fails. Explain to yourself why it happens before
   you change anything; then mend the cause, not the symptom, and look for the same mistake elsewhere.
{_CLOSE}
""",
    "hotfix": """\
1. **Orient.** Read this brief, and only the code that the fault goes through.
2. **Reproduce** the fault, with a failing test where that is quick.
3. **Mend the root cause with the smallest change that is safe to release now.** No clean-up, no renaming, no upgrade.
4. **Verify.** Run the checks below. Say what the change may break, and what should be done properly later.
5. **Commit.** One commit; its message names the cause.
""",
    "review": """\
This is a review, and it is read-only: change no file, make no commit, push nothing.

1. **Orient.** Read what the change wants to do. See all of it: `git log` and `git diff` from where it left its base.
2. **Read** each change with the code around it. Look for wrong results, lost data, missing cases and tests, security
   holes, and what will be hard to live with. Try to prove each suspicion from the code.
3. **Report** as your last message: first what matters most, each finding as `file:line`, what happens and when, how
   sure you are, and what would mend it. Say plainly when you found nothing. End with one line: accept, accept with
   changes, or reject, and why.
""",
    "research": """\
This is research, and it is read-only: change no file, make no commit.

1. **Orient.** Say in one sentence what is to be found out.
2. **Explore** the code, its history and its documents. Follow each trail to its source; try things out where you can
   do so without changing the worktree.
3. **Report** as your last message: the answer first, then the evidence with `file:line`, what remains uncertain, and
   what you would do next.
""",
}


def template_for(kind: str, labels: list[str]) -> str:
    """The name of the template for a kind of task (feat, fix, …) and a ticket's labels."""
    words = {label.casefold() for label in labels}
    if words & {"hotfix", "type: hotfix", "kind/hotfix"}:
        return "hotfix"
    if words & {"research", "spike", "investigation"}:
        return RESEARCH
    if kind == "fix" or words & {"bug", "defect", "type: bug", "kind/bug"}:
        return "bugfix"
    if words & {"enhancement", "feature", "story", "type: feature", "kind/feature"}:
        return "feature"
    return IMPLEMENT
