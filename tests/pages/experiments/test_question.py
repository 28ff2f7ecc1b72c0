import pytest

from engine.experiments.question import ANSWERS, Direction, Question
from engine.experiments.run_readings import READINGS
from pages.parts.experiments.question import guess_result

MEASURED = Question("How many?", ("None *yet*", "Some", "All"), READINGS["learned"])
TAUGHT = Question("Who?", ("Ann", "Bob", "Cy"), 0)


@pytest.mark.parametrize("right", ANSWERS)
@pytest.mark.parametrize("guess", ANSWERS)
def test_a_guess_is_right_where_it_is_the_answer_and_else_the_answer_is_named(
    guess: Direction, right: Direction
) -> None:
    sentence = guess_result(TAUGHT, guess, (right,))
    assert f"You said: *{TAUGHT.in_words(guess)}*" in sentence
    assert ("**Right.**" in sentence) == (guess == right)
    assert (f"The teacher says: **{TAUGHT.in_words(right)}**" in sentence) == (guess != right)


@pytest.mark.parametrize(
    ("guess", "right", "words"),
    [
        (1, (0,), ":orange[:material/close:] You said: *All*. Measured: **Some**."),
        (0, (0, 1), ":green[:material/check:] You said: *Some*. **Right.**"),
        (0, (), "You said: *Some*. These runs do not decide it."),
        (None, (), "These runs do not decide it."),
        (None, (-1,), r"**None \*yet\*.**"),
    ],
)
def test_what_was_measured_is_named_also_without_a_guess(
    guess: Direction | None, right: tuple[Direction, ...], words: str
) -> None:
    assert guess_result(MEASURED, guess, right) == words
