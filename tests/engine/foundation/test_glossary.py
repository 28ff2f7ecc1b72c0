from engine.config.run_config import settings_for
from engine.encodings import ENCODINGS
from engine.foundation.glossary import TERM_OF_SETTING, TERMS
from engine.tasks import TASKS

# the words of the statistics that pages and tables of evidence use
STATISTICS = {"p-value", "effect", "holm", "paired-seeds", "confidence-interval", "power"}


def test_the_words_of_the_statistics_are_told_with_their_source() -> None:
    assert all(TERMS[slug].source for slug in STATISTICS)


def test_every_term_is_a_few_plain_sentences_and_only_settings_that_exist_lead_there() -> None:
    for slug, term in TERMS.items():
        assert slug == term.slug
        assert 40 < len(term.text) < 400, slug
        assert term.text.endswith("."), slug

    known = {row.name for task in TASKS for encoding in ENCODINGS for row in settings_for(task, encoding)}
    assert set(TERM_OF_SETTING) <= known
