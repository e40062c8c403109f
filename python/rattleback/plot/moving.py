"""Stored trajectories as they move: an animation of two or three components."""

import io

import numpy as np

from .base import InputError, new_figure, positive, printable, tell, title, write_bytes
from .states import add_phase_options, label, load_trajectories, opened

SUMMARY = "stored trajectories as they move, two or three components, as an animated GIF"
COLOURED = 10  # largest number of trajectories with separate colours


def add_options(parser):
    add_phase_options(parser)
    parser.add_argument("--frames", metavar="N", type=positive, help="frames, evenly over the samples; default: up to 200")
    parser.add_argument("--rate", metavar="N", type=positive, default=25, help="frames per second (default: 25)")
    parser.add_argument("--trail", metavar="N", type=positive, help="samples of the past that are drawn; default: a tenth of all")


def run(arguments, output):
    write_bytes(gif_of(arguments), output)
    tell(f"figure: {printable(output)}")


def _bounds(curves, k):
    """The limits of an axis with a margin: those of all finite values."""
    values = np.concatenate([curve.point[k] for curve in curves])
    values = values[np.isfinite(values)]
    if not len(values):
        raise InputError(f"{curves[0].result.path}: no finite state to draw")
    margin = 0.05 * (np.ptp(values) or 1.0)
    return values.min() - margin, values.max() + margin


def _height(bounds):
    """The height of the figure in inches at which a plane with these bounds fills it, within limits; that of a cube in space."""
    (left, right), (low, high), *space = bounds
    return 6.0 if space else min(8.0, max(3.0, 1.0 + 7.0 * (high - low) / (right - left)))


def gif_of(arguments):
    """The content of the file: all trajectories at the times of the samples, with their trails."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    if len(arguments.files) > 1:
        raise InputError(f"an animation is of one result, not of {len(arguments.files)}")
    if arguments.angles:
        raise InputError("--angles has no effect in an animation; leave it out")
    result, = opened(arguments)
    curves = load_trajectories(result, arguments)
    time = result.time
    time = time[(time >= arguments.times[0]) & (time <= arguments.times[1])]
    bounds = [_bounds(curves, k) for k in range(len(arguments.components))]
    figure, axes = new_figure(height=_height(bounds) if arguments.equal else 6.0, space=len(bounds) == 3)
    label(axes, arguments, result)
    for name, (low, high) in zip("xyz", bounds):
        getattr(axes, f"set_{name}lim")(low, high)
    if arguments.equal and len(bounds) == 2:
        axes.set_aspect("equal", adjustable="box")  # the limits stay, and the box follows
    few = len(curves) <= COLOURED
    trails = [axes.plot(*([],) * len(curve.point), linewidth=0.8, alpha=0.7, color=None if few else "0.7")[0] for curve in curves]
    heads = [axes.plot(*([],) * len(curve.point), linestyle="", marker="o", markersize=6 if few else 3,
                       color=trail.get_color() if few else "C0")[0] for curve, trail in zip(curves, trails)]
    canvas, images = FigureCanvasAgg(figure), []
    past = arguments.trail or max(1, len(time) // 10)
    frames = min(arguments.frames or 200, len(time))
    for last in np.unique(np.linspace(0, len(time) - 1, frames).round().astype(int)):
        for curve, trail, head in zip(curves, trails, heads):
            for line, first in ((trail, max(0, last - past)), (head, last)):
                part = [values[first:last + 1] for values in curve.point]
                line.set_data_3d(*part) if len(part) == 3 else line.set_data(*part)
        title(axes, f"{result.label}, t = {time[last]:.4g}")
        canvas.draw()
        if not images:
            figure.set_layout_engine("none")  # the axes stay where they are
        images.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).quantize(256, Image.Quantize.FASTOCTREE))
    buffer = io.BytesIO()
    images[0].save(buffer, format="GIF", save_all=True, append_images=images[1:], duration=round(1000 / arguments.rate), loop=0,
                   comment=b"rattleback")
    return buffer.getvalue()
