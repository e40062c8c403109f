"""The snippets of docs/python.md, in order, in one process: a snippet goes on from those before. And those of README.md and docs/index.md."""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import shutil
import unittest

import rattleback as rb
from common import ROOT, Case


class Docs(Case):
    def test_snippets_of_the_front_pages_run(self):
        (self.folder / "examples").symlink_to(ROOT / "examples")
        for page in ("README.md", "docs/index.md"):
            text = (ROOT / page).read_text()
            for name, study in re.findall(r"^```toml\n# (\S+\.toml)\n(.*?)^```", text, re.M | re.S):
                (self.folder / name).write_text(study)
            snippet, = (text for text in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if "import rattleback" in text)
            with self.subTest(page), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                exec(compile(snippet, page, "exec"), {"__name__": "snippet"})

    def test_snippets_run(self):
        shutil.copy(ROOT / "examples/chaotic.toml", ".")
        self.assertGreater(self.run_snippets("docs/python.md"), 10)

    def test_snippets_of_derivatives_run(self):
        for name, study in re.findall(r"^```toml\n# (\w+.toml)\n(.*?)^```", (ROOT / "docs/learn/derivatives.md").read_text(), re.M | re.S):
            (self.folder / name).write_text(study)
        self.assertGreater(self.run_snippets("docs/learn/derivatives.md"), 1)

    def run_snippets(self, page):
        text = (ROOT / page).read_text()
        snippets = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        names = {"__name__": "snippets"}
        for number, snippet in enumerate(snippets):
            with self.subTest(number), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                place = text[:text.index(snippet)].count("\n") + 1
                exec(compile("\n" * (place - 1) + snippet, page, "exec"), names)
        return len(snippets)

    def test_examples_of_docstrings_run(self):
        examples = 0
        for module in pkgutil.iter_modules(rb.__path__):
            if module.name != "_core":
                failed, tried = doctest.testmod(importlib.import_module(f"rattleback.{module.name}"), extraglobs={"rb": rb})
                self.assertEqual(failed, 0, module.name)
                examples += tried
        self.assertGreater(examples, 10)


if __name__ == "__main__":
    unittest.main()
