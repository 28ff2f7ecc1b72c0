"""The text page by its widgets and words, on a small text of one's own over the real pool."""

import re
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from streamlit.testing.v1 import AppTest

from engine.config.run_config import parse
from engine.config.text_recipe import text_config
from engine.tasks.text import user_texts
from pages.parts.app import server
from pages.parts.charts.loss import by_read_figure, level_lines, loss_figure, next_figure
from pages.parts.text.trained import lead_over_trigram
from tests.engine.serving.test_pool import until
from tests.pages.looking import Open, disabled, ended, press, run_of, said, trained

TEXT = "".join(f"the {who} {what} the {whom}, and then\nthe day was done.\n" for who in ("cat", "dog", "king") for what in (
    "saw", "met", "heard", "left") for whom in ("queen", "bird", "moon", "sea"))  # fmt: skip


UNKNOWN = "the model reads the unknown token there"
HEBREW = "".join(f"{who} {what} את {whom}, ואז נגמר היום.\n" for who in ("האיש", "הילד", "המלך") for what in (
    "ראה", "פגש", "שמע", "עזב") for whom in ("המלכה", "הציפור", "הירח", "הים")) * 2  # fmt: skip


def given_text(app: AppTest, pasted: str = TEXT) -> AppTest:
    app.button_group(key="text.kind").set_value("own").run()
    assert disabled(app, "Train"), "it waits for the text"
    app.text_area(key="text.pasted").set_value(pasted).run()
    return press(app, "Use this text")


def test_a_text_of_ones_own_is_trained_on_and_written_on_from(open_page: Open) -> None:
    app = given_text(open_page("text.py"))
    name = app.session_state["text.form"]["text"]
    assert user_texts.read(name) == TEXT
    assert f"links name it by {name[:8]}…" in said(app)
    app.number_input(key="text.set.steps").set_value(30).run()
    app.number_input(key="text.set.vocab_size").set_value(40).run()
    run = run_of(trained(app))
    assert run.config == text_config(text=name, steps=30, vocab_size=40)
    assert "than counting pairs of words" in said(app)
    assert "its last tenth" in said(app)
    share = run.ending.metrics["unknown_share"]
    assert (f"{100 * share:.1f} % of the held-out tokens are unknown" in said(app)) == (share > 0)
    (table,) = app.table
    assert list(table.value.index) == ["The model", "Unigram", "Kneser-Ney bigram", "Kneser-Ney trigram"]
    assert table.value.index.name == "Model", "no head without words"
    app.text_area(key="text.prompt").set_value("the king Gandalf").run()
    press(app, "Write")
    assert "`Gandalf` is not in the vocabulary" in said(app)
    app.text_area(key="text.prompt").set_value("the king " * 2000).run()
    assert len(app.session_state["text.prompt"]) == 10_000, "whatever a browser sends"
    app.text_input(key="text.sentence").set_value("the dog met Gandalf").run()
    assert said(app).count("not in the vocabulary") == 2
    link = dict(parse_qsl(urlsplit(app.code[0].value).query))
    assert link == {"text": name, "vocab_size": "40", "pos_encoding": "rope", "steps": "30", "run": run.id}
    again = open_page("text.py", run=run.id, pos_encoding="alibi")
    assert again.number_input(key="text.set.steps").value == 30
    assert again.selectbox(key="text.set.pos_encoding").value == "alibi"
    assert again.session_state["text.run"] == run.id
    assert len(server.pool().runs.live()) == 0, "a link trains nothing"


def test_a_link_to_a_run_of_characters_which_earlier_versions_trained_here_is_explained(open_page: Open) -> None:
    run = ended(parse({"task": "shakespeare_chars", "seq_len": 16, "steps": 2, "plays": 1}))
    app = open_page("text.py", run=run.id)
    assert not app.error
    assert "a run of task shakespeare_words; this one is of shakespeare_chars" in said(app)


def test_the_pages_own_examples_are_in_the_vocabulary_at_hand_and_go_with_the_text(open_page: Open) -> None:
    app = open_page("text.py")
    until(lambda: bool(server.pool().health().ready))
    app.run()
    assert app.text_area(key="text.prompt").value == "ROMEO\nMy lord, "
    assert UNKNOWN not in said(app)
    app.button_group(key="text.kind").set_value("own").run()
    for text, letters in ((TEXT, "[a-z]"), (HEBREW, "[\u05d0-\u05ea]"), (TEXT, "[a-z]")):
        app.text_area(key="text.pasted").set_value(text).run()
        press(app, "Use this text")
        app.number_input(key="text.set.steps").set_value(5).run()
        app.number_input(key="text.set.vocab_size").set_value(40).run()
        trained(app)
        for example in (app.text_area(key="text.prompt").value, app.text_input(key="text.sentence").value):
            assert re.search(letters, example)
        press(app, "Write")
        assert UNKNOWN not in said(app)
    written = [box.value for box in app.get("html") if "<p " in box.value]
    assert written
    assert all('dir="auto"' in one for one in written), "each in its own direction"
    app.text_area(key="text.prompt").set_value("שלום").run()
    assert app.run().text_area(key="text.prompt").value == "שלום", "what the reader has written stays"


def test_many_unknown_words_are_said_beside_the_numbers(open_page: Open) -> None:
    app = given_text(open_page("text.py"), " ".join(f"w{n} of" for n in range(900)))
    app.number_input(key="text.set.steps").set_value(5).run()
    app.number_input(key="text.set.vocab_size").set_value(40).run()
    trained(app)
    assert "of the held-out tokens are unknown" in said(app)
    assert "the loss over all says little: characters are the better unit" in said(app)
    (table,) = app.table
    assert [column.split(" (")[0] for column in table.value.columns] == ["All tokens", "Known tokens", "Words"]


def test_a_text_without_blanks_is_told_when_it_is_given_and_leads_on_by_character(open_page: Open) -> None:
    app = given_text(open_page("text.py"), "我喜欢你" * 500)
    assert "has no window of 17 tokens" in said(app)
    assert disabled(app, "Train")
    (link,) = [link for link in app.get("page_link") if "by character" in link.proto.label]
    name = app.session_state["text.form"]["text"]
    assert dict(parse_qsl(link.proto.query_string)) == {"task": "shakespeare_chars", "text": name}
    assert not disabled(given_text(app), "Train")


def test_on_arrival_it_shows_the_recorded_run(open_page: Open) -> None:
    app = open_page("text.py")
    until(lambda: bool(server.pool().health().ready))
    words = said(app.run())
    assert "recorded run" in words
    assert "it guessed better than counting pairs of words (now perplexity" in words
    assert "Trains on 1,082,267 tokens" in words
    assert "13.1 % of the held-out tokens are unknown" in words
    assert "The recorded model, step 3,000, temperature 0.8" in words, "it writes before anybody trains"


def test_a_text_that_does_not_do_is_refused_in_one_sentence(open_page: Open) -> None:
    app = open_page("text.py")
    for pasted, sentence in (
        ("too short", "allowed is at least 1,000"), ("word \0 " * 400, "null character"), ("é" * 600_000, "1,200,000 bytes"),
    ):  # fmt: skip
        assert sentence in said(given_text(app, pasted))
        assert app.session_state["text.form"]["text"] == "shakespeare"


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
