import csv
import io
import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from engine import VERSION
from engine.config.link import from_query, to_query
from engine.experiments.evidence.shipped import sets_of_seeds, shipped_reports
from engine.experiments.experiment import LIVE_SEED, PILOT_SEEDS
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.issues.issue import GROUPS, Issue
from engine.experiments.rates import RateGrid
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.shared_trials import SharedTrials
from engine.experiments.trained_depth import read_trained_depth
from engine.foundation.provenance import provenance
from engine.foundation.visitor import Visitor
from engine.serving.allowances import Allowances
from engine.serving.limits import Limits
from pages.parts.app import server
from pages.parts.app.earlier import EARLIER
from pages.parts.app.visitor import COOKIE
from pages.parts.experiments import running as experiments
from pages.parts.experiments.board import as_csv, as_json
from pages.parts.experiments.experiment_snapshot import ExperimentSnapshot, snapshot_of
from pages.parts.experiments.presenting import KEY as PRESENTING
from pages.parts.experiments.running import EXPERIMENTS, RUN_NAMES
from pages.parts.questions import map as question_map
from pages.parts.questions import tabs
from pages.parts.questions.conclusions import conclusion, findings
from pages.parts.questions.tabs import with_formulas_apart
from pages.parts.questions.view import key_finding_so_far
from tests.engine.serving.test_pool import until
from tests.pages.looking import Open, disabled, labels, messages_of, notes_of, page_text, press
from tests.pages.scripted_experiment import Scripted, ScriptedPool

MASK, HEADS = ISSUES["missing-mask"], ISSUES["heads"]
# the questions whose tile has a figure: a new one has none until its evidence is stored
DRAWN = [slug for slug, issue in ISSUES.items() if shipped_reports(issue, confirmatory=True)]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, own_data_folder: object) -> ScriptedPool:
    """A pool whose runs end when the test says so, all with the same number. No other test follows a run that is left."""
    pool = ScriptedPool(lambda config: 0.5, at_once=False)
    monkeypatch.setattr(server, "pool", lambda: pool)
    monkeypatch.setattr(experiments, "SHARED", SharedTrials())
    return pool


def unlinked(app: AppTest) -> str:
    """The words of a page, without its links to the glossary."""
    return re.sub(r"\[([^\[\]]+)\]\(glossary\?term=[\w-]+\)", r"\1", page_text(app))


def links(app: AppTest) -> dict[str, str]:
    """The links of the page by their labels, with their queries."""
    return {link.proto.label: link.proto.query_string for link in app.get("page_link")}


def veiled(app: AppTest) -> dict[str, bool]:
    """True for each tile on the map, in the registry's order, whose figure is veiled."""
    order = [link.proto.query_string.removeprefix("issue=") for link in app.get("page_link") if link.proto.query_string]
    drawn = [box.value for box in app.get("html") if 'class="thumbnail"' in box.value]
    by_slug = dict(zip((slug for slug in order if slug in DRAWN), ("Guess first" in one for one in drawn), strict=True))
    return {slug: by_slug[slug] for slug in DRAWN}


def run_of(app: AppTest, slug: str = "scripted") -> ExperimentRun:
    return EXPERIMENTS.find(app.session_state[RUN_NAMES][slug])


def run_to_end(app: AppTest) -> AppTest:
    press(app, "Train it here")
    assert run_of(app).wait(600)
    return app.run()


def test_a_question_without_stored_seeds_is_on_the_map_without_a_figure(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_map, "small_figure", lambda slug, veiled: "")
    app = open_page("questions.py")
    assert set(links(app)) >= {issue.title for issue in ISSUES.values()}
    assert not [box for box in app.get("html") if "thumbnail" in box.value]


def test_the_map_has_every_question_veiled_until_it_is_guessed_or_all_are_shown(open_page: Open) -> None:
    skips = ISSUES["missing-skips"]
    app = open_page("questions.py")
    assert [row.value for row in app.header] == ["Start here", *GROUPS.values()]
    assert {issue.group for issue in ISSUES.values()} == set(GROUPS)
    assert set(links(app)) >= {issue.title for issue in ISSUES.values()}
    assert all(2 <= issue.minutes <= 10 and f"{issue.minutes} min" in page_text(app) for issue in ISSUES.values())
    assert next(iter(links(app))) == "What does depth alone do?"
    assert veiled(app) == dict.fromkeys(DRAWN, True)
    assert not [
        issue.slug for issue in ISSUES.values() if conclusion(issue) in page_text(app) or "Remedy" in page_text(app)
    ]
    app.toggle(key="questions.set.found").set_value(True).run()
    assert dict(app.query_params) == {"found": "true"}
    assert veiled(app) == dict.fromkeys(DRAWN, False)
    for issue in ISSUES.values():
        assert conclusion(issue) in page_text(app)
    app.toggle(key="questions.set.found").set_value(False).run()
    assert conclusion(skips) not in page_text(app)
    app.query_params["issue"] = skips.slug
    app.run().button_group(key=f"guess.{skips.slug}").set_value(1).run()
    app.query_params.clear()
    assert veiled(app.run()) == {slug: slug != skips.slug for slug in DRAWN}
    assert conclusion(skips) not in page_text(app)
    assert [box.label for box in app.get("expander")] == ["Your own work"]
    assert [file.label for file in app.get("download_button")] == ["Report (HTML)"]


def test_earlier_addresses_lead_on() -> None:
    link = {"issue": MASK.slug, "seeds": "4"}
    assert (EARLIER["issues"].file, EARLIER["issues"].query(link)) == ("questions.py", link)
    assert (EARLIER["answer"].file, EARLIER["answer"].query({})) == ("questions.py", {"found": "true"})


@pytest.fixture
def one_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sessions of a test are tabs of one browser, one after another or beside each other."""
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda self: {COOKIE: "x" * 43}))


def finish(pool: ScriptedPool, experiment: ExperimentRun) -> None:
    for index in range(experiment.total):
        until(lambda number=index: len(pool.submitted) > number)
        pool.finish(pool.submitted[index])
    assert experiment.wait(600)


def test_a_question_whose_experiment_runs_is_marked_on_the_map(open_page: Open, slow: ScriptedPool) -> None:
    app = open_page("questions.py", issue=MASK.slug, seeds="1")
    press(app, "Train it here")
    experiment = run_of(app, MASK.slug)
    app.query_params.clear()
    assert page_text(app.run()).count("Running") == 1
    assert veiled(app) == dict.fromkeys(DRAWN, True), "nothing was guessed"
    finish(slow, experiment)
    assert experiment.state == "finished"
    assert "Running" not in page_text(app.run())


def open_tab(app: AppTest, tab: str, slug: str = MASK.slug) -> AppTest:
    return app.button_group(key=f"questions.tab.{slug}").set_value(tab).run()


def open_part(app: AppTest, tab: str, part: str, slug: str = MASK.slug) -> AppTest:
    return app.button_group(key=f"questions.{tab}.{slug}").set_value(part).run()


def test_an_issue_opens_with_its_question_alone_and_each_tab_has_its_part(open_page: Open) -> None:
    app = open_page("questions.py", issue="missing-mask")
    assert (app.title[0].value, app.header[0].value) == (MASK.title, MASK.key_figure.question)
    assert MASK.key_figure.sample in page_text(app)
    for later in (MASK.summary, MASK.key_figure.remedy, *MASK.remedies, *(claim.sentence for claim in MASK.claims)):
        assert later not in unlinked(app)
    assert {"Show the answer", "Train it here"} <= set(labels(app))

    open_tab(app, "Why")
    assert MASK.summary in unlinked(app)
    assert "[causal mask](glossary?term=mask)" in page_text(app)
    assert all(line in unlinked(open_part(app, "why", "Remedies")) for line in MASK.remedies)
    assert MASK.sources[0].url in page_text(open_part(app, "why", "Sources"))
    assert "See it on the page Depth, untrained" not in links(app)
    open_tab(app, "Evidence")
    assert "(glossary?term=" in page_text(app)
    claims = "".join(unlinked(open_part(app, "evidence", part)) for part in ("Claims 1", "Claims 2"))
    assert all(claim.sentence in claims for claim in MASK.claims_of(MASK.arms_of()))
    assert "Mask fault: None → **Missing**" in page_text(open_tab(app, "Method"))
    assert all(note in unlinked(open_part(app, "measured", "Notes")) for note in MASK.notes)


WORD, FORMULA = re.compile(r"[^\W\d_]{2,}"), re.compile(r"\$\$.+?\$\$|\$.+?\$", re.DOTALL)


@pytest.mark.parametrize("issue", ISSUES.values(), ids=list(ISSUES))
def test_an_explanation_begins_short_and_each_further_part_is_short_and_has_a_head(issue: Issue) -> None:
    def count(text: str) -> int:
        return len(WORD.findall(FORMULA.sub(" ", text)))

    (nothing, first), *others = issue.parts
    assert nothing == ""
    assert count(f"{issue.summary} {first}") <= 150
    assert others
    for head, text in others:
        assert 1 <= len(head.split()) <= 8, head
        assert 0 < count(text) <= 150, head
        assert not re.search(r"[*$`\n]", head), "a label has plain words"
    own_parts = {"In short", "Why it happens", "Remedies", "Sources", "Before and after training"}
    assert len({head for head, _ in others} - own_parts) == len(others), "two parts of one name would be one"
    joined = " ".join([first, *(f"{head} {text}" for head, text in others)])
    assert WORD.findall(joined) == WORD.findall(issue.mechanism), "nothing is lost"


def test_each_part_of_an_explanation_is_shown_alone(open_page: Open) -> None:
    app = open_tab(open_page("questions.py", issue="missing-mask"), "Why")
    parts = app.button_group(key="questions.why.missing-mask").options
    heads = [head for head, _ in MASK.parts[1:]]
    assert parts == ["In short", "Why it happens", *heads, "Remedies", "Sources"]
    texts = {"In short": MASK.summary, "Why it happens": MASK.parts[0][1], **dict(MASK.parts[1:])}
    for head in texts:
        shown = text_words(unlinked(open_part(app, "why", head)))
        assert [other for other, text in texts.items() if text_words(text) in shown] == [head]


@pytest.mark.parametrize("slug", ["missing-mask", "longer-sequences"])
def test_all_notes_on_the_measurement_are_there_in_order_on_as_many_pages_as_they_need(
    open_page: Open, slug: str
) -> None:
    app = open_tab(open_page("questions.py", issue=slug), "Method", slug)
    pages = [part for part in app.button_group(key=f"questions.measured.{slug}").options if part.startswith("Notes")]
    assert pages == (["Notes"] if slug == "missing-mask" else ["Notes 1", "Notes 2", "Notes 3", "Notes 4"])
    shown = [unlinked(open_part(app, "measured", page, slug)) for page in pages]
    where = [[number for number, text in enumerate(shown) if note in text] for note in ISSUES[slug].notes]
    assert all(len(numbers) == 1 for numbers in where)
    assert where == sorted(where)


def text_words(text: str) -> str:
    return " ".join(WORD.findall(text))


def test_an_issue_that_untrained_models_show_leads_to_the_dial_of_depth(open_page: Open) -> None:
    app = open_tab(open_page("questions.py", issue="tokens-alike"), "Why", "tokens-alike")
    assert links(app)["See it on the page Depth, untrained"] == "depth=8&skips=false&mlp=false"


def test_what_training_did_by_depth_stands_with_the_reason_once_the_answer_is_seen(open_page: Open) -> None:
    app = open_tab(open_page("questions.py", issue="tokens-alike"), "Why", "tokens-alike")
    parts = app.button_group(key="questions.why.tokens-alike").options
    assert "Before and after training" not in parts
    press(app, "Show the answer")
    open_part(open_tab(app, "Why", "tokens-alike"), "why", "Before and after training", "tokens-alike")
    stored = read_trained_depth(ISSUES["tokens-alike"])
    assert [caption.value for caption in app.caption if "4 seeds" in caption.value] == [
        f"{ISSUES['tokens-alike'].key_figure.name_of(one.arm)}, 4 seeds" for one in stored
    ]


def test_the_arms_say_how_their_rates_were_chosen_and_which_keep_their_own(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {0.001: [0.5] * 4, 0.01: [0.5] * 4, 0.1: [0.51] * 4}
    learned = {0.001: [0.5] * 4, 0.01: [0.6] * 4, 0.1: [0.9] * 4}
    grids = [
        RateGrid("no mask", 0.01, "accuracy", scores, 0.5),
        RateGrid("causal mask", 0.01, "accuracy", learned, 0.5),
    ]
    monkeypatch.setattr(tabs, "read_grids", lambda slug: grids)
    app = open_tab(open_page("questions.py", issue="missing-mask"), "Method")
    app = open_part(app, "measured", "Learning rates")
    assert "with the best mean on the 4 pilot seeds 900 to 903, which no finding uses" in page_text(app)
    assert "because no rate beats guessing: no mask." in page_text(app)


def test_the_share_of_unknown_tokens_stands_beside_each_arm_on_a_text(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue = ISSUES["overfitting-depth"]

    def measured() -> str:
        app = open_page("questions.py", issue=issue.slug, extended="true")
        return page_text(open_tab(app, "Method", issue.slug))

    assert "% unknown" not in measured()
    texts = [arm.name for arm in issue.arms if "text_tokens" in arm.settings]
    small = (
        replace(arm, settings={**arm.settings, "vocab_size": 55}) if arm.name in texts else arm for arm in issue.arms
    )
    monkeypatch.setitem(ISSUES, issue.slug, replace(issue, arms=tuple(small)))
    shares = [float(share) for share in re.findall(r":gray\[([\d.]+) % unknown\]", measured())]
    assert len(shares) == len(texts) > 0
    assert all(0 < share <= 1 for share in shares)


@pytest.mark.parametrize("slug", ISSUES)
def test_every_issue_has_its_page_and_each_arm_opens_in_the_lab_with_every_setting(open_page: Open, slug: str) -> None:
    issue = ISSUES[slug]
    app = open_page("questions.py", issue=slug, extended="true", first_seed="10005")
    assert app.title[0].value == issue.title
    open_tab(app, "Method", slug)
    queries = [link.proto.query_string for link in app.get("page_link") if link.proto.label == "Open in the lab"]
    links = [dict(parse_qsl(query)) for query in queries]
    assert [(link.pop("of"), link.pop("arm")) for link in links] == [(slug, arm.name) for arm in issue.arms]
    assert [from_query(link) for link in links] == [(issue.config(arm, 10005), []) for arm in issue.arms]


def test_the_lab_says_from_which_issue_it_was_opened_and_takes_a_second_link_of_the_session(open_page: Open) -> None:
    arm = next(arm for arm in MASK.arms if arm.role != "control")
    app = open_page("lab.py", of=MASK.slug, arm=arm.name, unfolded=True, **to_query(MASK.config(arm)))
    assert any(MASK.title in element.value and arm.name in element.value for element in app.markdown)
    assert any(link.proto.label == "Back to the question" for link in app.get("page_link"))
    wrong = open_page("lab.py", of="no-such-issue", arm="nobody")
    assert not any(link.proto.label == "Back to the question" for link in wrong.get("page_link"))

    app.switch_page("questions.py").run()
    app.switch_page("lab.py")
    app.query_params.update(to_query(MASK.config(MASK.arms[1], 3)))
    app.run()
    assert app.selectbox(key="set.mask_fault").value == "transposed"
    assert app.number_input(key="set.seed").value == 3
    app.number_input(key="set.seed").set_value(4).run()
    assert app.number_input(key="set.seed").value == 4, "what is changed after a link stays changed"


def test_a_link_starts_nothing(open_page: Open) -> None:
    app = open_page("questions.py", issue="missing-mask", first_seed="10100", experiment="x")
    assert not app.session_state[RUN_NAMES]
    assert f"{4 * MASK.seeds} short training runs" in next(
        one.help for one in app.button if one.label.startswith("Train")
    )


def test_an_experiment_runs_to_a_verdict_and_is_taken_away_and_found(open_page: Open, scripted: Scripted) -> None:
    issue, pool = scripted
    app = run_to_end(open_page("questions.py", issue="scripted", seeds="6", first_seed="10003"))
    experiment, name = run_of(app), app.session_state[RUN_NAMES]["scripted"]
    assert (experiment.state, experiment.report.seeds) == ("finished", [*range(10_003, 10_009)])
    assert (len(pool.submitted), len({run.owner for run in pool.submitted})) == (24, 1)
    assert app.query_params["experiment"] == name
    assert experiment.report.claims[0].finding == "holds"
    assert "Measured with" not in page_text(app)
    open_tab(app, "Evidence", issue.slug)
    assert f"Measured with Attention Lab {VERSION}, commit" in page_text(app)
    assert app.get("download_button")
    open_part(app, "evidence", "Published numbers", issue.slug)
    ours = [table.value.loc["sinusoidal", "512, ours"] for table in app.dataframe if "512, ours" in table.value]
    assert ours == [pytest.approx(0.3, abs=0.1)], "ours stands beside theirs"
    open_part(app, "evidence", "Claims", issue.slug)
    claims = next(table.value for table in app.dataframe if "claim" in table.value)
    assert list(claims["finding"]) == [claim.finding.words for claim in experiment.report.claims]
    app.session_state["experiment_view.numbers"] = True
    arms = next(table.value for table in app.run().dataframe if "Arm" in table.value)
    assert list(arms["Arm"]) == [arm.name for arm in experiment.report.arms]
    assert arms["Mean"].tolist() == pytest.approx(arms.filter(like="Seed ").mean(axis=1).tolist())

    snapshot = snapshot_of(experiment)
    row = json.loads(as_json(snapshot))
    assert (row["slug"], len(row["trials"]), len(row["claims"]), row["provenance"]) == ("scripted", 24, 3, provenance())
    assert row["origin"] == "live"
    rows = list(csv.DictReader(io.StringIO(as_csv(snapshot))))
    assert {r["origin"] for r in rows} == {"live"}
    accuracy = {(r["arm"], r["seed"]): float(r["value"]) for r in rows if r["number"] == "accuracy"}
    assert accuracy == {(t.arm, str(t.seed)): t.numbers["accuracy"] for t in experiment.trials}

    again = open_page("questions.py", issue="scripted", experiment=name)
    assert "Guess" in labels(again), "nobody has guessed here"
    assert len(pool.submitted) == 24, "a link starts nothing"
    run_to_end(open_page("questions.py", issue="scripted", seeds="6", first_seed="10003"))
    assert len(pool.submitted) == 24, "what was trained here is there at once"


def test_guesses_are_set_beside_what_happened(open_page: Open, scripted: Scripted) -> None:
    app = open_page("questions.py", issue="scripted", seeds="6")
    app.button_group(key="guess.scripted").set_value(1).run()
    app.number_input(key="guess.size.scripted").set_value(0.5).run()
    run_to_end(app)
    assert "You said: *It rises*, to 0.50. **The direction is right. Measured:" in page_text(app)
    assert app.button_group(key="guess.scripted").proto.disabled
    press(app, "Guess again")
    assert "scripted" not in app.session_state[RUN_NAMES]
    assert "You said" not in page_text(app)
    app.button_group(key="guess.scripted").set_value(-1).run()
    assert "You said: *It falls*, to 0.50. Measured: **It rises**" in page_text(run_to_end(app))


def test_a_guess_stays_with_its_run_when_the_page_is_loaded_again(open_page: Open, scripted: Scripted) -> None:
    app = open_page("questions.py", issue="scripted", seeds="6")
    app.button_group(key="guess.scripted").set_value(-1).run()
    app.number_input(key="guess.size.scripted").set_value(0.5).run()
    assert not {"guess", "size"} & app.query_params.keys(), "a link to a question brings nobody's guess"
    run_to_end(app)
    link = {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}
    again = open_page("questions.py", **link)
    assert "You said: *It falls*, to 0.50. Measured: **It rises**" in page_text(again)
    assert again.button_group(key="guess.scripted").value == -1
    press(again, "Guess again")
    assert again.number_input(key="guess.size.scripted").value == 0.5

    wrong = open_page("questions.py", **link | {"guess": "2"})
    assert "You said" not in page_text(wrong)
    assert "guess" in page_text(wrong)


ABOVE, SENTENCE = "grey: stored seeds 1000 to 1015", "in 16 of 16 stored seeds"


def test_no_live_seed_is_a_stored_one_or_a_pilot(open_page: Open) -> None:
    assert max(*PILOT_SEEDS, *(seed for one in sets_of_seeds() for seed in one["seeds"])) < LIVE_SEED
    assert "first_seed" in page_text(open_page("questions.py", issue=MASK.slug, first_seed=str(LIVE_SEED - 1)))


def test_the_answer_is_shown_at_a_press_and_what_is_trained_here_has_a_sentence_of_its_own(
    open_page: Open, slow: ScriptedPool
) -> None:
    app = open_page("questions.py", issue=HEADS.slug)
    app.button_group(key=f"guess.{HEADS.slug}").set_value(-1).run()
    for later in (SENTENCE, HEADS.key_figure.because, HEADS.key_figure.remedy):
        assert later not in page_text(app) + messages_of(app), "not before the press"
    press(app, "Show the answer")
    assert not slow.submitted
    assert "You said: *It falls*. **Right.**" in page_text(app)
    after = [box.value for box in app.markdown]
    because, remedy = f"**Because** {HEADS.key_figure.because}", f"**Remedy:** {HEADS.key_figure.remedy}"
    assert after.index(because) < after.index(remedy)
    assert SENTENCE in messages_of(app)
    assert ABOVE not in messages_of(app), "the stored seeds are the figure"
    assert not [claim.id for claim in HEADS.claims if claim.sentence in unlinked(app)]
    assert disabled(app, "Show the answer")

    press(app, "Train it here")
    assert ABOVE in messages_of(app)
    assert "Trained here" not in messages_of(app)
    assert "0 of" not in messages_of(app), "how far it is, only from the first number on"
    for index in range(len(HEADS.arms_of())):
        until(lambda number=index: len(slow.submitted) > number)
        slow.finish(slow.submitted[index])
    until(lambda: len(run_of(app, HEADS.slug).trials) == len(HEADS.arms_of()))
    assert {run.config.seed for run in slow.submitted[: len(HEADS.arms_of())]} == {LIVE_SEED}
    assert "Trained here: it stays about the same after 95 steps: 0.50 and 0.50, over 1 seed. At least" in messages_of(
        app.run()
    )
    assert SENTENCE in messages_of(app)
    assert "**Right.**" in page_text(app), "they are not pooled"

    open_tab(app, "Evidence", HEADS.slug)
    choice = app.button_group(key=f"set.{HEADS.slug}")
    assert choice.options[:2] == ["Trained here", "Stored seeds 1000 to 1015"]
    open_part(app, "evidence", "In words", HEADS.slug)
    assert all(text in page_text(app) for text in findings(HEADS.slug).values())
    open_part(app, "evidence", "Claims", HEADS.slug)
    choice = app.button_group(key=f"set.{HEADS.slug}")
    assert not app.get("download_button"), "not before the end"
    choice.set_value("Stored seeds 1000 to 1015").run()
    assert app.get("download_button")
    press(app, "Stop")
    assert run_of(app, HEADS.slug).wait(600)
    press(app.run(), "Guess again")
    assert not [words for words in (ABOVE, SENTENCE, "Because") if words in page_text(app) + messages_of(app)]


def test_who_trains_first_sees_no_stored_seed_until_the_answer_is_asked_for(
    open_page: Open, slow: ScriptedPool
) -> None:
    app = press(open_page("questions.py", issue=MASK.slug), "Train it here")
    assert not [words for words in (ABOVE, SENTENCE, "Because") if words in page_text(app) + messages_of(app)]
    assert app.button_group(key=f"guess.{MASK.slug}").proto.disabled
    press(app, "Show the answer")
    assert ABOVE in messages_of(app)
    assert SENTENCE in messages_of(app)
    press(app, "Stop")
    assert run_of(app, MASK.slug).wait(600)


def test_what_is_downloaded_says_whether_its_seeds_are_stored(open_page: Open) -> None:
    stored = ExperimentSnapshot.of(shipped_reports(MASK)[0], "shipped")
    assert (stored.name, json.loads(as_json(stored))["origin"]) == ("missing-mask-stored", "stored")
    assert {row["origin"] for row in csv.DictReader(io.StringIO(as_csv(stored)))} == {"stored"}


def test_where_the_run_is_refused_the_answer_is_there_all_the_same(open_page: Open, slow: ScriptedPool) -> None:
    slow.allowances = Allowances(Limits(experiments=1))
    slow.allowances.take("experiment", Visitor("somebody else"))
    app = press(open_page("questions.py", issue=MASK.slug), "Train it here")
    assert not slow.submitted
    assert not app.session_state[RUN_NAMES]
    assert "experiment" in app.error[0].value
    assert SENTENCE in messages_of(press(app, "Show the answer"))
    assert SENTENCE not in messages_of(press(app, "Guess"))


def test_a_presenter_goes_on_to_the_stored_answer_and_trains_nothing(open_page: Open, slow: ScriptedPool) -> None:
    projector = open_page("questions.py", issue=MASK.slug, lesson=f"{MASK.slug}.5", at="1", present="true")
    now = projector.session_state[PRESENTING]

    def at(phase: str) -> str:
        projector.session_state[PRESENTING] = replace(now, phase=now.phases.index(phase))
        return messages_of(projector.run())

    after, row = MASK.key_figure.after.label, MASK.key_figure.rows[2].label
    assert "Measured when" not in at("guess"), "nothing before the guess"
    assert "Train it here" not in labels(projector)
    assert after in at("run")
    assert row not in messages_of(projector), "the two rows that the question compares"
    assert SENTENCE not in messages_of(projector), "the sentence waits for its phase"
    assert "Train it here" in labels(projector)
    assert row in at("figure")
    assert SENTENCE in at("sentence")
    at("remedy")
    assert f"**Because** {MASK.key_figure.because}" in page_text(projector)
    assert "**Remedy:**" in page_text(projector)
    assert not {"Train it here", "Stop"} & set(labels(projector)), "they make room for it"
    at("guess")
    at("run")
    assert not slow.submitted


def test_the_next_step_of_a_lesson_begins_in_place_of_what_the_last_one_still_trains(
    open_page: Open, scripted: Scripted
) -> None:
    scripted[1].at_once = False
    projector = open_page("questions.py", issue="scripted", lesson=f"scripted.5~~{MASK.slug}.5", at="1", present="true")
    now = projector.session_state[PRESENTING]
    projector.session_state[PRESENTING] = replace(now, phase=now.phases.index("run"))
    first = run_of(projector.run())
    projector.session_state[PRESENTING] = replace(now, at=1, phase=now.phases.index("run"))
    projector.query_params["issue"] = MASK.slug
    press(projector.run(), "Train it here")
    assert first.wait(600)
    assert (first.state, run_of(projector, MASK.slug).state) == ("stopped", "running")
    assert not projector.error
    press(projector, "Stop")
    assert run_of(projector, MASK.slug).wait(600)


@pytest.mark.usefixtures("one_browser")
def test_two_walls_of_a_presenter_begin_one_experiment(open_page: Open, scripted: Scripted) -> None:
    scripted[1].at_once = False
    link = {"issue": "scripted", "lesson": "scripted.5", "at": "1", "present": "true"}
    first, other = projectors = [open_page("questions.py", **link) for _ in range(2)]
    for projector in projectors:
        now = projector.session_state[PRESENTING]
        projector.session_state[PRESENTING] = replace(now, phase=now.phases.index("run"))
        projector.run()
    assert first.session_state[RUN_NAMES] == other.session_state[RUN_NAMES]
    run = run_of(first)
    assert run.state == "running"
    run.stop()
    assert run.wait(600)


def test_what_was_trained_before_is_used(open_page: Open, scripted: Scripted) -> None:
    _, pool = scripted
    run_to_end(open_page("questions.py", issue="scripted", seeds="8"))
    before = len(pool.submitted)
    app = open_page("questions.py", issue="scripted", seeds="9")
    assert "36 short training runs, 32 of them already stored here" in app.button(key="run.").help
    run_to_end(app)
    assert len(run_of(app).reused) == 32
    assert {run.config.seed for run in pool.submitted[before:]} == {LIVE_SEED + 8}


def test_one_experiment_of_a_session_at_a_time_and_stop_keeps_its_trials(open_page: Open, scripted: Scripted) -> None:
    _, pool = scripted
    pool.at_once = False
    app = open_page("questions.py", issue="scripted", seeds="2")
    press(app, "Train it here")
    experiment = run_of(app)
    assert "Stop" in labels(app)
    app.query_params["issue"] = MASK.slug
    app.run()
    assert not [label for label in labels(app) if label.startswith("Train it here")]
    assert "You can run 1 experiment at a time here. Running now:" in page_text(app)
    assert links(app)["Scripted, 4 arms"] == "issue=scripted"
    assert MASK.slug not in app.session_state[RUN_NAMES]
    app.query_params["issue"] = "scripted"
    app.run()
    until(lambda: bool(pool.submitted))
    pool.finish(pool.submitted[0])
    until(lambda: bool(experiment.trials))
    press(app, "Stop")
    assert experiment.wait(600)
    assert (experiment.state, len(experiment.trials)) == ("stopped", 1)
    assert "Stop" not in labels(app.run())


def test_another_experiment_that_is_in_the_way_can_be_stopped_for_this_one(open_page: Open, scripted: Scripted) -> None:
    _, pool = scripted
    pool.at_once = False
    app = open_page("questions.py", issue="scripted", seeds="2")
    press(app, "Train it here")
    before = run_of(app)
    app.query_params["issue"] = MASK.slug
    press(app.run(), "Stop it and run this one")
    assert before.wait(600)
    assert (before.state, run_of(app, MASK.slug).state) == ("stopped", "running")
    press(app, "Stop")
    assert run_of(app, MASK.slug).wait(600)
    assert "Train it here" in labels(app.run())


@pytest.mark.usefixtures("one_browser")
def test_the_plain_link_shows_the_run_that_goes_and_a_second_press_begins_no_other(
    open_page: Open, scripted: Scripted
) -> None:
    _, pool = scripted
    pool.at_once = False
    first, other = (open_page("questions.py", issue="scripted", seeds="2") for _ in range(2))
    press(first, "Train it here")
    press(other, "Train it here")  # its page does not know yet
    assert first.session_state[RUN_NAMES] == other.session_state[RUN_NAMES]
    assert "going" not in page_text(other)

    again = open_page("questions.py", issue="scripted")
    assert "Stop" in labels(again)
    assert again.query_params["experiment"] == again.session_state[RUN_NAMES]["scripted"]
    press(again, "Stop")
    assert run_of(first).wait(600)
    assert again.run().session_state[RUN_NAMES] == first.session_state[RUN_NAMES], "what has ended stays in sight"
    assert "scripted" not in open_page("questions.py", issue="scripted").session_state[RUN_NAMES]


def test_where_the_claim_does_not_hold_it_says_what_was_expected_and_guesses_why(
    open_page: Open, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue, pool = scripted
    issue = replace(issue, key_figure=replace(issue.key_figure, because="it is so."))
    monkeypatch.setitem(ISSUES, issue.slug, issue)
    value = pool.value
    pool.value = lambda config: 1 - value(config)
    app = run_to_end(open_page("questions.py", issue=issue.slug, seeds="6"))
    assert run_of(app).report.claims[0].finding == "opposite"
    assert f"**We expected:** {issue.claims[0].sentence} **A possible reason:** " in page_text(app)
    assert f"**Remedy:** {issue.key_figure.remedy}" in page_text(app)
    assert "Because" not in page_text(app)


def test_what_is_set_goes_along_to_another_issue_and_to_the_map(open_page: Open) -> None:
    app = open_page("questions.py", issue="missing-mask", seeds="4", extended="true", hide="first_seed", lock="seeds")
    assert not app.number_input
    query = {"issue": "missing-mask", "seeds": "4", "extended": "true", "hide": "first_seed", "lock": "seeds"}
    assert dict(app.query_params) == query
    app.query_params.clear()
    app.run()
    assert app.title[0].value == "What goes wrong?"
    app.query_params["issue"] = "heads"
    app.run()
    assert app.title[0].value == ISSUES["heads"].title
    assert (app.query_params["seeds"], app.query_params["extended"]) == ("4", "true")
    assert open_tab(app, "Method", "heads").toggle(key="questions.set.extended").value


def test_ours_stand_beside_published_numbers_after_the_answer_and_not_at_the_next_question(open_page: Open) -> None:
    app = open_tab(open_page("questions.py", issue="longer-sequences"), "Evidence", "longer-sequences")
    open_part(app, "evidence", "Published numbers", "longer-sequences")
    assert "Our numbers appear with the answer." in page_text(app)
    press(app, "Show the answer")
    assert "Our numbers appear with the answer." not in page_text(app)
    assert any("ours" in name for table in app.dataframe for name in table.value.columns)

    app.query_params["issue"] = "heads"
    app.run()
    assert app.title[0].value == ISSUES["heads"].title
    assert "Because" not in page_text(app)


def test_the_learning_curves_come_with_the_answer_and_their_sentence_after_that_of_the_seeds(
    open_page: Open, long_runs_of_mask: Issue
) -> None:
    app = open_page("questions.py", issue=long_runs_of_mask.slug)
    veiled = messages_of(app)
    assert all(
        words in veiled for words in ("After 150 steps", "Learning curve", "With the causal mask: not shown yet")
    )
    assert "A limit at this size" not in veiled
    press(app, "Show the answer")
    answered = messages_of(app)
    assert "not shown yet" not in answered
    assert "Without a mask: 0.90 at step 150, 1.00 at step 1,500" in answered
    key = answered.index("Without the causal mask the accuracy on the random first half rises")
    assert key < answered.index("A limit at this size: with ten times the steps no seed of")
    app.query_params["issue"] = "heads"
    assert "Learning curve" not in messages_of(app.run()), "of which there are no long runs"


@pytest.mark.parametrize("earlier", RENAMED)
def test_a_link_with_an_earlier_slug_opens_the_issue_and_the_address_then_has_the_present_one(
    earlier: str, open_page: Open
) -> None:
    app = open_page("questions.py", issue=earlier, seeds="4")
    assert app.title[0].value == ISSUES[RENAMED[earlier]].title
    assert dict(app.query_params) == {"issue": RENAMED[earlier], "seeds": "4"}


def test_displayed_formulas_stand_apart() -> None:
    assert with_formulas_apart("a $x$,\n$$b$$ c") == "a $x$,\n\n$$\nb\n$$\n\nc"


def test_the_report_holds_the_guess_the_own_run_and_its_result(open_page: Open, scripted: Scripted) -> None:
    app = open_page("questions.py", issue="scripted", seeds="6")
    assert not notes_of(app)
    app.button_group(key="guess.scripted").set_value(1).run()
    note = notes_of(app)["issue.scripted"]
    assert (note.guess, note.run, note.finding) == ("It rises", "", "")
    run_to_end(app)
    found, figure = snapshot_of(run_of(app)), scripted[0].key_figure
    finding = key_finding_so_far(figure, found)
    assert finding is not None
    note = notes_of(app)["issue.scripted"]
    assert (note.guess, note.run, note.finding) == (
        "It rises",
        "Trained here: 6 seeds (10000 to 10005).",
        finding.sentence,
    )
    other = open_page("questions.py", issue="scripted", experiment=app.session_state[RUN_NAMES]["scripted"])
    watched = notes_of(other)["issue.scripted"]
    assert (watched.guess, watched.run) == ("", "Nothing; watched somebody else’s run: 6 seeds (10000 to 10005).")


def test_the_report_says_that_a_stored_result_was_not_trained(open_page: Open, slow: ScriptedPool) -> None:
    app = open_page("questions.py", issue=MASK.slug)
    app.button_group(key=f"guess.{MASK.slug}").set_value(1).run()
    press(app, "Show the answer")
    first = shipped_reports(MASK)[0]
    note = notes_of(app)[f"issue.{MASK.slug}"]
    assert note.run == f"Nothing; read stored runs: {first.seeds_in_words}."
    assert (bool(note.finding), note.guess) == (True, "It rises")
    open_tab(app, "Share")
    assert any(block.value.endswith(f"questions?issue={MASK.slug}") for block in app.code)
