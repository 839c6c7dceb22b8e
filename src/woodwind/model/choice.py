"""What may be chosen for an agent: its model, how hard it thinks, and what it may do without asking."""

from woodwind.model.errors import UsageError
from woodwind.model.typed import NamedTuple

THINKING = ("off", "none", "minimal", "low", "medium", "high", "xhigh", "max")
PERMISSIONS = ("ask", "auto", "bypass")


class ModelChoice(NamedTuple):
    """A model as the user named it; parts that were left out are ""."""

    provider: str = ""
    model: str = ""
    thinking: str = ""


def parse_model(text: str) -> ModelChoice:
    """The parts of `provider/model[:thinking]`, of which only the model is needed; none of them for ""."""
    if not text:
        return ModelChoice()
    rest, colon, thinking = text.rpartition(":")
    if not colon:
        rest, thinking = text, ""
    elif thinking not in THINKING:
        if "/" in thinking or not rest:
            raise _bad(text)
        # Some models have a colon in their own name, such as `ollama/llama3:8b`.
        if any(ch.isdigit() for ch in thinking):
            rest, thinking = text, ""
        else:
            raise UsageError(
                f"{thinking!r} is not a level of thinking", hint=f"Known: {', '.join(THINKING)}. For example: opus:high"
            )
    provider, slash, model = rest.partition("/")
    if not slash:
        provider, model = "", rest
    if not model or model.startswith("-") or (slash and not provider) or any(c.isspace() or c < " " for c in text):
        raise _bad(text)
    return ModelChoice(provider, model, thinking)


def _bad(text: str) -> UsageError:
    return UsageError(f"{text!r} is not a model", hint="Write model or provider/model, with :thinking if you like.")
