"""Run designs on fresh seeds, each with a table or an order of its own: designs are fixed first, then each is run once.

    python -m tools.fresh fix          write the hash of every design (``engine/experiments/evidence/designs.json``), to be committed
    python -m tools.fresh run          run every issue that was not run yet, on seeds that nothing was chosen by; SLUG ...: these alone

Each trial is kept as it ends: after Ctrl-C the same command goes on where it was. It refuses where a design is not the fixed one.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.cli.cluster import add_scheduler, warm_pool
from engine.cli.experiments import run_to_end
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.design import design_hash, fix_designs, fixed_designs
from engine.experiments.evidence.shipped import is_fresh, sets_of_seeds, write_set
from engine.experiments.experiment import FRESH_SEEDS
from engine.experiments.issues import ISSUES
from tools.evidence import write_readme


def stored_designs(folder: Path) -> dict[str, str]:
    """By issue, the hash of the design that was run on fresh seeds."""
    sets = [one for one in sets_of_seeds(folder) if is_fresh(one["seeds"])]
    return {slug: row["design"] for one in sets for slug, row in one["issues"].items()}


def fix(folder: Path) -> None:
    """Raises ValueError if a design has changed since it was run."""
    designs = {slug: design_hash(issue) for slug, issue in ISSUES.items()}
    if changed := [slug for slug, design in stored_designs(folder).items() if designs.get(slug, design) != design]:
        raise ValueError(f"{', '.join(changed)} has been run; a changed design needs seeds that it has not seen.")
    fix_designs(designs, folder)


def unfixed(folder: Path) -> list[str]:
    hashes = fixed_designs(folder)
    return [slug for slug, issue in ISSUES.items() if hashes.get(slug) != design_hash(issue)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fix", "run"))
    parser.add_argument("issues", nargs="*", metavar="SLUG")
    parser.add_argument("--write", type=Path, default=FOLDER, metavar="FOLDER")
    add_scheduler(parser)
    given = parser.parse_args(arguments)
    given.write.mkdir(parents=True, exist_ok=True)
    if given.what == "fix":
        return fix(given.write)
    if changed := unfixed(given.write):
        parser.error(f"the design of {', '.join(changed)} is not the fixed one; fix it and commit that first.")
    with warm_pool(given.scheduler) as pool:
        for slug in [slug for slug in given.issues or ISSUES if slug not in stored_designs(given.write)]:
            fresh = replace(ISSUES[slug], seeds=len(FRESH_SEEDS), first_seed=FRESH_SEEDS[0], own_sources=True)
            write_set([run_to_end(fresh, pool, as_json=False, extended=True).report], given.write)
    write_readme(given.write)


if __name__ == "__main__":
    main()
