#!/usr/bin/env python3
"""Runs the notebooks of examples/ and writes them as pages: notebooks.py FOLDER. Needs the Python package, nbformat and nbclient."""

import base64
import pathlib
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[2] / "examples/notebooks"


def fenced(language, text):
    return f"```{language}\n{text.rstrip()}\n```\n"


def shown(output, image):
    """An output as Markdown; `image` is the file for a figure. Progress on stderr is left out."""
    if output.output_type == "stream":
        return fenced("text", output.text) if output.name == "stdout" else ""
    if output.output_type == "error":
        raise RuntimeError("\n".join(output.traceback))
    if "image/png" in output.data:
        image.write_bytes(base64.b64decode(output.data["image/png"]))
        return f"![A figure of the notebook](notebooks/{image.name})\n"
    if "text/html" in output.data:
        return fenced("{raw} html", output.data["text/html"])
    return fenced("text", output.data["text/plain"])


def page(path, images):
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    parts = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source + "\n")
        else:
            parts.append(fenced("python", cell.source))
            parts += [shown(output, images / f"{path.stem}-{number}-{k}.png") for k, output in enumerate(cell.outputs)]
    return "\n".join(parts) + f"\nThis page is the notebook `examples/notebooks/{path.name}`, run when the site was built.\n"


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    figures = target / "notebooks"
    figures.mkdir(parents=True, exist_ok=True)
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        (target / f"notebook-{notebook.stem}.md").write_text(page(notebook, figures))
