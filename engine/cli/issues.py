"""``issues``: the documented issues."""

from __future__ import annotations

import argparse
import json

from rich.console import Console
from rich.table import Table

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS

HELP = "list the documented issues"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(given: argparse.Namespace) -> int:
    if given.json:
        for issue in ISSUES.values():
            claims = [claim.sentence for claim in issue.claims]
            print(json.dumps({"slug": issue.slug, "group": issue.group, "title": issue.title, "claims": claims}))
        return 0
    table = Table("slug", "group", "claims", title="Documented issues", show_lines=True)
    for issue in ISSUES.values():
        sentences = "\n".join(f"{claim.sentence} [dim]{claim.condition}[/]" for claim in issue.claims)
        table.add_row(issue.slug, GROUPS[issue.group], sentences)
    Console().print(table)
    return 0
