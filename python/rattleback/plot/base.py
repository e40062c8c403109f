"""What all kinds of figures share: messages, option values, the figure and its file."""

import argparse
import contextlib
import difflib
import io
import math
import os
import pathlib
import stat

FORMATS = (".png", ".svg", ".pdf")
# Two runs give the same bytes, so the file has no dates. The mark (title, software or creator) identifies figures of this tool.
METADATA = {".png": {"Software": "rattleback"}, ".svg": {"Date": None, "Creator": "rattleback"},
            ".pdf": {"CreationDate": None, "Creator": "rattleback"}}
MARKS = {b"\x89PNG\r\n": b"Software\0rattleback", b"GIF89a": b"rattleback", b"\0\0\0\x20ftypisom": b"rattleback",
         b"<?xml": b"<dc:title>rattleback</dc:title>", b"%PDF-": b"/Creator (rattleback)"}
# These colours can be told apart without colour vision (Okabe and Ito). Dark and light ones take turns, for prints without
# colours.
COLOURS = ("#0072b2", "#e69f00", "#000000", "#56b4e9", "#d55e00", "#009e73", "#8c510a", "#cc79a7", "#999999", "#f0e442")
MARKERS = "osD^v<>*"


try:
    from .._core import InputError as InputError  # that of the package
except ImportError:  # the tool of the program loads the figures without the rest of the package

    class InputError(ValueError):  # type: ignore[no-redef]
        """A message of one line for the person who called."""


class OutputError(Exception):
    """What is printed is lost."""


def with_error(value, error):
    """A value and its standard error in the short form: 3.81(19)e-05; six digits without an error."""
    if not math.isfinite(value) or not math.isfinite(error) or error <= 0:
        return f"{value:.6e}"
    last = int(f"{error:.1e}".split("e")[1]) - 1  # the place of the error's second digit
    leading = last + 1
    if value != 0:  # the leading digit of the value as it is rounded at that place
        exact = int(f"{abs(value):.16e}".split("e")[1])
        leading = max(leading, int(f"{abs(value):.{max(exact - last, 0)}e}".split("e")[1]))
    if leading - last > 16:
        return f"{value:.6e}"
    digits = f"{error:.1e}".split("e")[0].replace(".", "")
    return f"{value / 10.0 ** leading:.{leading - last}f}({digits})e{leading:+03d}"


def printable(text):
    """The text without what a terminal or a figure does not show as it is."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def shortened(text, length):
    return text if len(text) <= length else text[:length - 3] + "..."


@contextlib.contextmanager
def told():
    """Around what writes on stdout."""
    try:
        yield
    except OSError as error:
        raise OutputError(error.strerror) from error


def tell(text, **options):
    """Prints lines on stdout, without what a terminal does not show as it is."""
    with told():
        print("\n".join(printable(line) for line in text.split("\n")), **options)


def listing(names):
    """The names, or the first of them, for a message."""
    names = [str(name) for name in names]
    return ", ".join(names[:12] + ["..."] * (len(names) > 12)) or "none"


def did_you_mean(name, known):
    """The end of a message about an unknown name: the nearest known one, if there is one."""
    nearest = difflib.get_close_matches(name, [str(k) for k in known], n=1, cutoff=0.5)
    return f"; did you mean '{nearest[0]}'?" if nearest else ""


def choose(wanted, known, what, where):
    """`wanted`, if it is one of the known names."""
    if wanted not in known:
        raise InputError(f"{where}: no {what} '{wanted}' (there are: {listing(known)}){did_you_mean(wanted, known)}")
    return wanted


def plain(text):
    """Text of others for a figure: dollar signs start no mathematics, an underscore at the start hides no legend."""
    text = "\n".join(shortened(printable(line), 200) for line in str(text).split("\n")).replace("$", r"\$")
    return " " + text if text.startswith("_") else text


def option_type(convert, what):
    """`convert` as the type of an option, with a message that says what the option takes."""

    def parse(text):
        try:
            return convert(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"'{text}' is not {what}") from error

    return parse


def _window(text):
    start, colon, end = text.partition(":")
    window = float(start), float(end) if colon else float("inf")
    if not window[0] <= window[1]:
        raise ValueError
    return window


def _positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)


def _finite(text):
    if not math.isfinite(float(text)):
        raise ValueError
    return float(text)


number = option_type(_finite, "a number")
numbers = option_type(lambda text: [_finite(part) for part in text.split(",")], "a list of numbers A,B,...")
indices = option_type(lambda text: sorted({int(part) for part in text.split(",")}), "a list of indices A,B,...")
window = option_type(_window, "a time T0 or a span T0:T1")
positive = option_type(_positive, "a whole number above 0")


def chosen(wanted, known):
    """The names of a list, or of a text "A,B". Names may have commas themselves: the text is taken apart into known names where
    that is possible, into the fewest of them."""
    if not isinstance(wanted, str):
        return wanted
    lists = {len(wanted) + 1: []}  # of names that make up the text from a place on
    for start in range(len(wanted), -1, -1):
        found = [[name, *lists[end]] for name in known if name and wanted.startswith(name, start)
                 and (end := start + len(name) + 1) in lists and wanted[end - 1:end] in ("", ",")]
        if found:
            lists[start] = min(found, key=len)
    return lists.get(0) or wanted.split(",")


def window_text(span):
    return f"t >= {span[0]:g}" if span[1] == float("inf") else f"{span[0]:g} <= t <= {span[1]:g}"


def new_figure(height=5.0, space=False):
    """A figure and its axes, in `space` three of them; drawn without a display."""
    import matplotlib  # imported here, because the import takes longer than all checks before
    from matplotlib.figure import Figure

    matplotlib.rcdefaults()  # a figure depends only on the results and the options
    matplotlib.rcParams["svg.hashsalt"] = "rattleback"
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=COLOURS)
    matplotlib.rcParams["mathtext.fontset"] = "cm"

    class Shown(Figure):
        """A figure that a notebook shows."""

        def _repr_png_(self):
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    figure = Shown(figsize=(8.0, height), layout="constrained")
    if space:
        return figure, figure.add_subplot(projection="3d")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)
    return figure, axes


def title(axes, text):
    axes.set_title(plain(text), fontsize="medium")


def legend(axes, entries):
    """A legend of that many entries: inside the axes, or to the right of them when it is long."""
    outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if entries > 4 else {}
    axes.legend(fontsize="small", **outside)


def figure_place(path):
    """Where a figure goes: to the end of symbolic links. Only a figure that this tool has drawn is ever replaced."""
    place = pathlib.Path(os.path.realpath(path))
    try:
        mode = place.stat().st_mode
        if not stat.S_ISREG(mode):
            raise InputError(f"{path}: cannot be written (it is {'a directory' if stat.S_ISDIR(mode) else 'not a regular file'}); "
                             "choose another name with -o")
        content = place.read_bytes()
    except FileNotFoundError:
        if place.parent.is_dir():
            return place
        raise InputError(f"{path}: cannot be written (there is no such directory); choose another name with -o") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
    if not any(content.startswith(start) and mark in content for start, mark in MARKS.items()):
        raise InputError(f"{path}: exists already and is not a figure of rattleback; delete it, or choose another name with -o")
    return place


def save(figure, path):
    """Writes the whole figure or no file, and says so."""
    write(figure, path)
    tell(f"figure: {printable(path)}")


def bytes_of(figure, suffix):
    """The content of a figure's file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], dpi=120, metadata=METADATA[suffix])
    return buffer.getvalue()


def write(figure, path):
    """Writes the whole figure or no file."""
    write_bytes(bytes_of(figure, path.suffix), path)


def write_bytes(content, path):
    """Writes the whole content or no file."""
    place = figure_place(path)
    partial = place.with_name(f".{place.name[:200]}.part-{os.getpid()}")
    try:
        with partial.open("xb") as file:
            try:
                file.write(content)
                file.flush()
                partial.replace(place)
            except BaseException:
                with contextlib.suppress(OSError):
                    partial.unlink()
                raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
