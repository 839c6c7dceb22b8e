"""Numbers on the command line."""

import pytest

from woodwind.cli.numbers import seconds, whole
from woodwind.model.errors import UsageError


@pytest.mark.parametrize("word", ["", "0", "51", "-1", "+3", "1.5", "ten", "1_0", " 7", "²", "9" * 5000])
def test_a_number_out_of_range_is_refused_with_what_is_wanted(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        whole("-n", 1, 50)(word)
    assert caught.value.message.startswith("-n must be from 1 to 50, found ")


def test_whole_numbers() -> None:
    assert [whole("-n", 1, 50)(word) for word in ("1", "007", "50")] == [1, 7, 50]
    assert whole("--since", 0)("123456789012345678") == 123456789012345678
    with pytest.raises(UsageError, match=r"^--since must be 0 or more, found -4$"):
        whole("--since", 0)("-4")


@pytest.mark.parametrize(
    "word, value", [("0", 0), ("90", 90), ("0.5", 0.5), ("90s", 90), ("10m", 600), ("2h30m", 9000), ("1d", 86400)]
)
def test_spans_of_time(word: str, value: float) -> None:
    assert seconds("--timeout")(word) == value


@pytest.mark.parametrize("word", ["", "-1", "nan", "inf", "1e12", "soon", "10 minutes", "99999999d"])
def test_what_is_no_span_of_time_is_refused_with_examples(word: str) -> None:
    with pytest.raises(UsageError, match="--timeout must be seconds, or a span of time such as 90s, 30m or 2h30m"):
        seconds("--timeout")(word)
