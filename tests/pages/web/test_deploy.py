"""The README's own line for a public host starts a server that lets its visitors in, and nobody else's."""

from __future__ import annotations

import re
import shlex
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from pages.parts.app.visitor import COOKIE
from tests.serving import ROOT, handshake, running


def deploy_line() -> tuple[dict[str, str], list[str]]:
    """The environment variables that the README's Deploy line sets, and its command, as a shell would read them."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Deploy\n")[2]
    line = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert line is not None
    words = shlex.split(line[1].replace("\\\n", " "))
    start = next(number for number, word in enumerate(words) if "=" not in word)
    return dict(word.split("=", 1) for word in words[:start]), words[start:]


def test_the_deploy_line_lets_in_who_comes_by_the_hosts_name_and_nobody_else(tmp_path: Path) -> None:
    environment, command = deploy_line()
    assert command == [".venv/bin/streamlit", "run", "app.py"]
    with running("app.py", tmp_path, STREAMLIT_SERVER_ADDRESS="127.0.0.1", **environment) as (_, address):
        assert handshake(address, "lab.example.org", "https://lab.example.org") == 101
        assert handshake(address, "foreign.example", "https://foreign.example") == 403


def test_behind_a_proxy_the_named_origins_are_let_in_and_numbers_about_others_are_nobodys(tmp_path: Path) -> None:
    named = {"STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS": "https://lab.example.org https://www.example.org"}
    with running("app.py", tmp_path, **named) as (_, address):
        for origin in named["STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS"].split():
            assert handshake(address, "127.0.0.1", origin) == 101
        assert handshake(address, "127.0.0.1", "https://foreign.example") == 403
        with urllib.request.urlopen(address) as page:
            assert page.headers["set-cookie"].startswith(f"{COOKIE}=")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}_stcore/metrics")
