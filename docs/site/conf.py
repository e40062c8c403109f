"""The site. tools/docs copies the repository, adds the generated pages and runs Sphinx on the copy."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

ROOT = pathlib.Path(__file__).resolve().parents[2]
project = "rattleback"
author = copyright = "the rattleback authors"
release = re.search(r"project\(rattleback VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
version = release

extensions = ["myst_parser", "mathml"]
root_doc = "docs/index"
include_patterns = ["docs/**", "examples/papers/README.md", "examples/papers/**/README.md", "examples/nonholonomic-families/README.md",
                    "bench/peers/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
exclude_patterns = ["docs/site/**", "docs/paper/**"]
source_suffix = {".md": "markdown"}
nitpicky = True

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 4
myst_dmath_allow_labels = True
# Program text of a terminal or of a file without a language of its own is text.
highlight_language = "text"

html_theme = "furo"
html_title = f"rattleback {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
