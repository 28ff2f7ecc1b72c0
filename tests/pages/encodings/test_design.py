import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from engine.config.link import from_query as lab_config
from engine.config.link import to_query as lab_query
from engine.encodings.designed import DesignedSettings
from engine.encodings.designed.code import layer_code
from engine.experiments.comparison import BASE, Comparison, design_config
from engine.settings.fields import to_text
from pages.parts.app.earlier import EARLIER
from pages.parts.encodings.design import numbers_of
from pages.parts.encodings.state import SETTINGS, fitting
from pages.parts.experiments.running import EXPERIMENTS
from tests.acceptance.project import Project
from tests.pages.looking import Open, disabled, labels, page_text, press
from tests.tables import tables_beside

PAGE = "encodings.py"


def select(app: AppTest, label: str) -> Any:
    return next(box for box in app.selectbox if box.label == label)


def test_a_design_is_put_beside_another_encoding_and_a_part_changes_words_and_code(open_page: Open) -> None:
    app = press(open_page(PAGE), "Design your own")
    assert select(app, "Encoding A").value == "designed"
    assert "Design your own" not in labels(app), "there is one"
    assert "Fourier features of the position, read out by a linear map, added to the embedding." in page_text(app)
    select(app, "Features").select("sinusoids").run()
    select(app, "Acts on").select("rotation").run()
    assert "Sinusoids of the position, turning queries and keys." in page_text(app)
    assert select(app, "Read-out").value == "direct"
    assert select(app, "Read-out").disabled
    design = DesignedSettings(design_features="sinusoids", design_place="rotation", design_readout="direct")
    codes = [block.value for block in app.code]
    assert layer_code(design).strip() in [code.strip() for code in codes]
    assert "--design-features sinusoids --design-readout direct --design-place rotation" in codes[0]
    link = {name: "".join(text) for name, text in dict(app.query_params).items()}
    assert (
        SETTINGS.read(link)[0].items()
        >= {f"a.{name}": part for name, part in design.model_dump().items() if f"a.{name}" in link}.items()
    )
    app.switch_page("lab.py").run()
    app.switch_page(PAGE).run()
    assert select(app, "Acts on").value == "rotation", "the design is there after a visit elsewhere"


def test_a_link_restores_the_choice_and_has_its_rivals_in_one_order(open_page: Open) -> None:
    link = {
        "b": "designed",
        "b.design_features": "table",
        "against": "rope,alibi",
        "tasks": "permutation",
        "seeds": "6",
    }
    app = open_page(PAGE, **link)
    assert select(app, "Features").value == "table"
    assert app.multiselect[0].value == ["rope", "alibi"]
    assert "18 short training runs" in page_text(app)

    app.multiselect[0].set_value(["alibi", "rope"]).run()
    there = app.query_params["against"]
    app.multiselect[0].set_value(["rope", "alibi"]).run()
    assert app.query_params["against"] == there
    app.multiselect[0].set_value([]).run()
    assert "against is empty; it must name 1 to 5 different ones" in page_text(app)
    assert disabled(app, "Run")


def test_a_part_that_does_not_fit_the_others_is_left_out_of_a_link_and_so_is_an_empty_list() -> None:
    for name, text in (("against", ""), ("seeds", "²"), ("a.design_place", "scores")):
        _, ignored = SETTINGS.read({"a": "designed", "a.design_features": "convolution", name: text})
        assert [problem.setting for problem in ignored] == [name]


def test_an_earlier_link_to_a_design_keeps_its_parts_its_rivals_and_what_it_hides() -> None:
    link = {"design_features": "table", "against": "rope", "hide": "design_width,seeds"}
    query = EARLIER["design"].query(link)
    assert query == {
        "a": "designed", "a.design_features": "table", "against": "rope", "hide": "a.design_width,seeds"
    }  # fmt: skip
    values, ignored = SETTINGS.read({name: text for name, text in query.items() if name != "hide"})
    assert (values["a"], values["a.design_features"], values["against"], ignored) == (
        "designed",
        "table",
        ("rope",),
        [],
    )
    assert EARLIER["design"].query({"experiment": "x"}) == {"a": "designed", "experiment": "x"}


def test_every_choice_survives_its_link() -> None:
    parts = dict(DesignedSettings(design_features="network", design_place="rotation", design_init_std=0.5))
    settings = {f"a.{name}": value for name, value in fitting(parts).items()}
    chosen = {
        **SETTINGS.defaults(),
        "a": "designed",
        **settings,
        "against": ("shaw",),
        "tasks": ("k_back",),
        "seeds": 3,
    }
    assert SETTINGS.read({name: to_text(value) for name, value in chosen.items() if name != "experiment"}) == (
        chosen,
        [],
    )

    config, issue = design_config({"design_features": "table"}), Comparison({"design_features": "table"}).experiment
    assert lab_config(lab_query(config)) == (config, []), "so does the link to the lab"
    assert issue.config(issue.arms[0]).encoding_settings == config.encoding_settings


def test_a_run_comes_to_a_verdict_is_found_again_and_goes_on(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.experiments.comparison.BASE", {**BASE, "steps": 4})
    app = open_page(PAGE, a="designed", against="nope", tasks="permutation", seeds="2")
    press(app, "Run")
    name = app.session_state["encodings"]["experiment"]
    assert name == Comparison(dict(DesignedSettings()), ("nope",), ("permutation",), 2).name
    experiment = EXPERIMENTS.find(name)
    assert experiment.wait(240)
    app.run()
    assert experiment.state == "finished", experiment.problem
    assert "**In this run:** Fourier features of the position" in page_text(app)
    assert app.query_params["experiment"] in (name, [name])
    claim = experiment.report.claims[0]
    accuracy = {(trial.arm, trial.seed): trial.number("accuracy") for trial in experiment.trials}
    ours, other = (arm.name for arm in experiment.arms)
    assert claim.effects == [pytest.approx(accuracy[ours, seed] - accuracy[other, seed]) for seed in (0, 1)]
    assert claim.finding == "undecided", "two seeds cannot decide"
    select(app, "Features").select("table").run()
    assert "changed since" in page_text(app)

    with monkeypatch.context() as restarted:
        restarted.setattr(EXPERIMENTS, "find", lambda name: None)
        again = open_page(PAGE, experiment=name)
    assert again.session_state["encodings"]["against"] == ("nope",), "the settings come with the experiment"
    assert select(again, "Encoding A").value == "designed"
    assert "**In this run:** Fourier features of the position" in page_text(again)
    assert [button.label for button in again.get("download_button")] != []
    assert "4 short training runs, all of them already stored here." in page_text(again)
    assert EXPERIMENTS.find(name) is experiment, "a link starts nothing"
    next(box for box in again.number_input if box.label == "Seeds").set_value(3).run()
    assert "6 short training runs, 4 of them already stored here" in page_text(again)
    press(again, "Run")
    more = EXPERIMENTS.find(again.session_state["encodings"]["experiment"])
    assert more.wait(240)
    assert (len(more.trials), len(more.reused)) == (6, 4)
    assert more.report.claims[0].effects[:2] == claim.effects


def test_a_design_has_only_the_numbers_that_matter() -> None:
    assert list(numbers_of(DesignedSettings())) == ["design_width", "design_length_scale", "design_init_std"]
    convolution = DesignedSettings(design_features="convolution", design_readout="network")
    assert list(numbers_of(convolution)) == ["design_hidden", "design_reach", "design_init_std"]


CASES = tables_beside(__file__)

# ten designs with every feature, read-out and place: features, read-out, place, and the learned parts
DESIGNS = CASES["designs"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    (project.folder / "engine/encodings/my_encoding").mkdir()
    return project


@pytest.mark.acceptance
@pytest.mark.parametrize("design", DESIGNS, ids="-".join)
def test_a_design_passes_all_checks(design: tuple[str, ...], project: Project, open_page: Open, tmp_path: Path) -> None:
    names = ("design_features", "design_readout", "design_place", "design_learned")
    app = open_page(PAGE, a="designed", **{f"a.{name}": part for name, part in zip(names, design, strict=True)})
    assert not app.warning, "the link is this design"
    layer, spec, commands = (block.value for block in app.code[-3:])
    folder, registry = project.folder / "engine/encodings/my_encoding", project.folder / "engine/encodings/__init__.py"
    for file, text in (("layer", layer), ("__init__", spec)):
        (folder / f"{file}.py").write_text(text + "\n")
    if '"my_encoding",' not in registry.read_text():
        registry.write_text(re.sub(r"^NAMES = \(\n", r'\g<0>    "my_encoding",\n', registry.read_text(), flags=re.M))
    for command in ("ruff check .", "mypy", *commands.splitlines()):
        done = project.run(*command.split(), ATTENTION_LAB_DATA=str(tmp_path))
        assert done.returncode == 0, command + done.stdout[-10_000:] + done.stderr[-5_000:]
