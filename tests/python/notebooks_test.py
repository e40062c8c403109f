"""The notebooks run without error, and the stored ones have no output. Figures go to NOTEBOOK_FIGURES, if that is set."""

import base64
import os
import pathlib
import unittest

import nbformat
from nbclient import NotebookClient

from common import ROOT, Case


class Notebooks(Case):
    pass


def add(path):
    def test(self):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            self.assertFalse(cell.get("outputs"), f"{path.name}: clear the outputs")
            if cell.cell_type == "markdown":  # formulas of TeX are written once escaped
                self.assertNotRegex(cell.source, r"\\\\[a-z,%]", path.name)
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(self.folder)}}).execute()
        figures = [output["data"]["image/png"] for cell in notebook.cells for output in cell.get("outputs", [])
                   if "image/png" in output.get("data", {})]
        self.assertGreater(len(figures), 0)
        if "NOTEBOOK_FIGURES" in os.environ:
            for number, figure in enumerate(figures):
                (pathlib.Path(os.environ["NOTEBOOK_FIGURES"]) / f"{path.stem}-{number}.png").write_bytes(base64.b64decode(figure))

    setattr(Notebooks, f"test_{path.stem.replace('-', '_')}", test)


for place in sorted((ROOT / "examples/notebooks").glob("*.ipynb")):
    add(place)

if __name__ == "__main__":
    unittest.main()
