"""What all kinds of figures share: messages, option values, the figure and its file."""

import argparse
import contextlib
import difflib
import io

FORMATS = (".png", ".svg", ".pdf")
# Two runs give the same bytes: no dates in the file.
METADATA = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
# Readable without colour vision (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999", "#8c510a", "#f0e442")


class InputError(Exception):
    """A message of one line for the person who called."""


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
    text = str(text).replace("$", r"\$")
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


numbers = option_type(lambda text: [float(part) for part in text.split(",")], "a list of numbers A,B,...")
indices = option_type(lambda text: sorted({int(part) for part in text.split(",")}), "a list of indices A,B,...")
window = option_type(_window, "a time T0 or a span T0:T1")
positive = option_type(_positive, "a whole number above 0")


def names(text):
    return text.split(",")


def window_text(span):
    return f"t >= {span[0]:g}" if span[1] == float("inf") else f"{span[0]:g} <= t <= {span[1]:g}"


def new_figure(height=5.0):
    """A figure and its axes; drawn without a display."""
    import matplotlib  # here, because it takes longer than all that can be wrong before it
    from matplotlib.figure import Figure

    matplotlib.rcdefaults()  # a figure depends on the results and the options alone
    matplotlib.rcParams["svg.hashsalt"] = "rattleback"
    matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=COLOURS)
    figure = Figure(figsize=(8.0, height), layout="constrained")
    axes = figure.subplots()
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)
    return figure, axes


def title(axes, text):
    axes.set_title(plain(text), fontsize="medium")


def legend(axes, entries):
    """A legend of that many entries: inside the axes, or to the right of them when it is long."""
    outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if entries > 8 else {}
    axes.legend(fontsize="small", **outside)


def save(figure, path):
    """Writes the whole figure or no file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:], dpi=120, metadata=METADATA[path.suffix])
    partial = path.with_name(path.name + ".part")
    try:
        partial.write_bytes(buffer.getvalue())
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise InputError(f"{path}: cannot be written ({error.strerror})") from error
    print(f"figure: {path}")
