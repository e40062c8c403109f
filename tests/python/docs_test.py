"""The snippets of docs/python.md, in order, in one process: a snippet goes on from those before. And that of README.md."""

import contextlib
import io
import re
import shutil
import unittest

from common import ROOT, Case


class Docs(Case):
    def test_snippet_of_the_readme_runs(self):
        (self.folder / "examples").symlink_to(ROOT / "examples")
        snippet, = (text for text in re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
                    if "import rattleback" in text)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(snippet, "README.md", "exec"), {"__name__": "snippet"})

    def test_snippets_run(self):
        shutil.copy(ROOT / "examples/chaotic.toml", ".")
        text = (ROOT / "docs/python.md").read_text()
        snippets = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        self.assertGreater(len(snippets), 10)
        names = {"__name__": "snippets"}
        for number, snippet in enumerate(snippets):
            with self.subTest(number), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                place = text[:text.index(snippet)].count("\n") + 1
                exec(compile("\n" * (place - 1) + snippet, "docs/python.md", "exec"), names)


if __name__ == "__main__":
    unittest.main()
