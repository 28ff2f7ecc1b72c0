from graphlib import CycleError
from pathlib import Path

import pytest

from pages.parts.app.scripts import in_order, joined


def written(folder: Path, **scripts: str) -> Path:
    for name, text in scripts.items():
        (folder / f"{name}.js").write_text(text)
    return folder / "main.js"


def test_each_script_stands_once_and_after_those_that_it_imports(tmp_path: Path) -> None:
    main = written(
        tmp_path,
        main='import { b } from "./b.js"\nimport { a } from "./a.js"\nexport const main = a + b\n',
        b='import { a } from "./a.js"\nexport const b = a\n',
        a="/** A number.\n * Of two. */\nexport const a = 1\n// Another.\nconst exported = 2\n",
    )
    assert [file.stem for file in in_order(main)] == ["a", "b", "main"]
    assert joined(main) == "const a = 1\nconst exported = 2\nconst b = a\nconst main = a + b\n"


def test_scripts_that_import_each_other_are_refused(tmp_path: Path) -> None:
    main = written(tmp_path, main='import { a } from "./a.js"\n', a='import { main } from "./main.js"\n')
    with pytest.raises(CycleError, match=r"main\.js"):
        in_order(main)
