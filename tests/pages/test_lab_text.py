import re

import numpy as np
from streamlit.testing.v1 import AppTest

from engine.config.link import from_query
from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig
from engine.tasks.text import user_texts
from pages.parts.app import server
from pages.parts.app.earlier import EARLIER
from pages.parts.charts.loss import by_read_figure, level_lines, loss_figure, next_figure
from pages.parts.lab.text import lead_over_trigram
from tests.engine.serving.test_pool import until
from tests.pages.looking import Open, disabled, page_text, press, run_of, store_ended_run, trained

TEXT = "".join(f"the {who} {what} the {whom}, and then\nthe day was done.\n" for who in ("cat", "dog", "king") for what in (
    "saw", "met", "heard", "left") for whom in ("queen", "bird", "moon", "sea"))  # fmt: skip


UNKNOWN = "the model reads the unknown token there"
HEBREW = "".join(f"{who} {what} את {whom}, ואז נגמר היום.\n" for who in ("האיש", "הילד", "המלך") for what in (
    "ראה", "פגש", "שמע", "עזב") for whom in ("המלכה", "הציפור", "הירח", "הים")) * 2  # fmt: skip
WORDS = {"preset": "next-word"}
SMALL = WORDS | {"steps": "5", "vocab_size": "40"}


def given_text(app: AppTest, pasted: str = TEXT) -> AppTest:
    app.text_area(key="lab.text.pasted").set_value(pasted).run()
    return press(app, "Use this text")


def set_now(app: AppTest) -> RunConfig:
    """The settings of a page without a run, as its address states them."""
    config, problems = from_query({**app.query_params})
    assert not problems
    return config


def opened_counting(app: AppTest) -> AppTest:
    app.session_state["lab.counting"] = True
    return app.run()


def test_a_text_of_ones_own_is_trained_on_and_written_on_from(open_page: Open) -> None:
    app = given_text(open_page("lab.py", **WORDS | {"steps": "30", "vocab_size": "40"}))
    name = app.session_state["form"]["text"]
    assert user_texts.read(name) == TEXT
    assert f"is {name[:8]}… in links" in page_text(app)
    run = run_of(trained(app))
    assert run.config == PRESETS["next-word"].config.replace(text=name, steps=30, vocab_size=40)
    assert not app.table, "it costs seconds: on demand"
    opened_counting(app)
    assert "than counting pairs of words" in page_text(app)
    assert "its last tenth" in page_text(app)
    share = run.ending.metrics["unknown_share"]
    assert (f"{100 * share:.1f} % of the held-out tokens are unknown" in page_text(app)) == (share > 0)
    (table,) = app.table
    assert list(table.value.index) == ["The model", "Unigram", "Kneser-Ney bigram", "Kneser-Ney trigram"]
    assert table.value.index.name == "Model", "no head without words"
    app.text_area(key="lab.text.prompt").set_value("the king Gandalf").run()
    press(app, "Write")
    assert "`Gandalf` is not in the vocabulary" in page_text(app)
    assert "This run, step 30" in page_text(app)
    app.text_area(key="lab.text.prompt").set_value("the king " * 2000).run()
    assert len(app.session_state["lab.text.prompt"]) == 10_000, "whatever a browser sends"
    assert {**app.query_params}.items() >= {"text": name, "vocab_size": "40", "steps": "30", "run": run.id}.items()
    assert TEXT[:20] not in str(app.code[0].value)

    # The plays, and back; and to where there is no text.
    press(app, "Back to Shakespeare")
    assert "text" not in app.query_params or app.query_params["text"] == "shakespeare"
    assert app.session_state["form"]["text"] == "shakespeare"
    press(app, "Back to your text")
    assert app.session_state["form"]["text"] == name
    app.get_by_key("set.task").select("reverse").run()
    assert "Use this text" not in [button.label for button in app.button]
    assert "Write" not in [button.label for button in app.button]


def test_an_earlier_link_leads_to_the_lab_with_its_run_and_settings(open_page: Open) -> None:
    moved = EARLIER["text"]
    run = store_ended_run(PRESETS["next-word"].config.replace(steps=3, vocab_size=300, pos_encoding="alibi"))
    app = open_page(moved.file, **moved.query({"run": run.id, "steps": "7", "hide": "seed"}))
    assert app.session_state["run"] == run.id
    assert app.query_params["steps"] == "7"
    assert app.get_by_key("set.pos_encoding").value == "alibi"
    assert app.query_params["hide"] == "seed"
    other = open_page(moved.file, **moved.query({"run": "../x", "vocab_size": "200", "pos_encoding": "nope"}))
    assert "this server has no such run" in page_text(other)
    assert set_now(other) == PRESETS["next-word"].config.replace(vocab_size=200, pos_encoding="nope")
    assert len(server.pool().runs.live()) == 0, "a link trains nothing"


def test_who_chooses_words_gets_the_settings_with_which_they_are_learned_and_loses_them_with_the_task(
    open_page: Open,
) -> None:
    app = open_page("lab.py", n_heads="2", seed="3")
    app.get_by_key("set.task").select("shakespeare_words").run()
    assert set_now(app) == PRESETS["next-word"].config.replace(n_heads=2, seed=3)
    app.get_by_key("set.task").select("reverse").run()
    assert set_now(app) == RunConfig(n_heads=2, seed=3)


def test_the_pages_own_prompt_is_in_the_vocabulary_at_hand_and_goes_with_the_text(open_page: Open) -> None:
    app = open_page("lab.py", **SMALL)
    until(lambda: bool(server.pool().health().ready))
    app.run()
    assert app.text_area(key="lab.text.prompt").value == "ROMEO\nMy lord, "
    assert UNKNOWN not in page_text(app)
    for text, letters in ((TEXT, "[a-z]"), (HEBREW, "[\u05d0-\u05ea]"), (TEXT, "[a-z]")):
        trained(given_text(app, text))
        assert re.search(letters, app.text_area(key="lab.text.prompt").value)
        press(app, "Write")
        assert UNKNOWN not in page_text(app)
    written = [box.value for box in app.get("html") if "<p " in box.value]
    assert written
    assert all('dir="auto"' in one for one in written), "each in its own direction"
    app.text_area(key="lab.text.prompt").set_value("שלום").run()
    assert app.run().text_area(key="lab.text.prompt").value == "שלום", "what the reader has written stays"


def test_many_unknown_words_are_said_beside_the_numbers(open_page: Open) -> None:
    app = given_text(open_page("lab.py", **SMALL), " ".join(f"w{n} of" for n in range(900)))
    opened_counting(trained(app))
    assert "of the held-out tokens are unknown" in page_text(app)
    assert "the loss over all says little: characters are the better unit" in page_text(app)
    (table,) = app.table
    assert [column.split(" (")[0] for column in table.value.columns] == ["All tokens", "Known tokens", "Words"]


def test_a_text_without_blanks_is_told_when_it_is_given_and_read_by_character(open_page: Open) -> None:
    app = given_text(open_page("lab.py", **WORDS), "我喜欢你" * 500)
    assert "has no window of 17 tokens" in page_text(app)
    assert disabled(app, "Train")
    name = app.session_state["form"]["text"]
    press(app, "Read it by character")
    assert (app.session_state["form"]["task"], app.session_state["form"]["text"]) == ("shakespeare_chars", name)
    assert not disabled(app, "Train")


def test_on_arrival_it_shows_the_recorded_run(open_page: Open) -> None:
    app = open_page("lab.py", **WORDS)
    until(lambda: bool(server.pool().health().ready))
    words = page_text(opened_counting(app))
    assert "it guessed better than counting pairs of words (now perplexity" in words
    assert "Trains on 1,082,267 tokens" in words
    assert "13.1 % of the held-out tokens are unknown" in words
    assert "Recorded run, step 3,000" in words, "it writes before anybody trains"
    app.number_input(key="set.n_layers").set_value(1).run()
    assert "right answers turn green" in page_text(app), "of other settings the untrained model is shown"
    assert "Recorded run, step 3,000" in page_text(app)


def test_a_text_that_does_not_do_is_refused_in_one_sentence(open_page: Open) -> None:
    app = open_page("lab.py", **WORDS)
    for pasted, sentence in (
        ("too short", "it needs at least 1,000"), ("word \0 " * 400, "null character"), ("é" * 600_000, "1,200,000 bytes"),
    ):  # fmt: skip
        assert sentence in page_text(given_text(app, pasted))
        assert app.session_state["form"]["text"] == "shakespeare"


def test_the_loss_of_a_text_is_read_as_perplexity_too() -> None:
    plain, text = (loss_figure(10, "#2A5BD7", 8.0, None, text=text).layout.yaxis for text in (False, True))
    assert plain.rangemode == "tozero"
    assert "100" in text.ticktext
    lines = level_lines({"Unigram": ("Unigram", 7.5), "Kneser-Ney trigram": ("Trigram", 4.35)})
    assert [line["name"] for line in lines] == ["Unigram, perplexity 1,808", "Kneser-Ney trigram, perplexity 77.5"]
    assert [line["label"]["text"] for line in lines] == ["Unigram 1,808", "Trigram 77.5"]


def test_figures_show_the_numbers_they_are_given() -> None:
    by_read = {"model": (4.5, 4.2, 4.1), "trigram": (4.35, 4.35, 4.3), "unigram": (5.5, 5.5, 5.5)}
    drawn = by_read_figure(
        {name: np.array(nats) for name, nats in by_read.items()}, {name: name for name in by_read}, "#C2570C"
    )
    assert {trace.name: trace.y for trace in drawn.data} == {name: by_read[name] for name in ("model", "trigram")}
    bars = next_figure([("the", 0.5), ("12", 0.25)], "#C2570C").data[0]
    assert (bars.y, bars.x) == (("the ", "12 "), (0.5, 0.25))


def test_a_lead_over_the_trigram_that_its_digits_do_not_show_is_none() -> None:
    trigram = {"words": 2.0, "layout": 1.0}
    for model, sentence in (
        ({"words": 2.004, "layout": 0.996}, "the same on words and the same between them."),
        ({"words": 1.99, "layout": 1.02}, "lower by 0.01 nats on words and higher by 0.02 nats between them."),
    ):
        assert lead_over_trigram({"model": model, "trigram": trigram}).endswith(sentence)
