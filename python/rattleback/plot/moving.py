"""Stored trajectories as they move: an animation of two or three components."""

import io
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

from .base import InputError, new_figure, positive, printable, tell, title, write_bytes
from .states import add_phase_options, label, load_trajectories, opened

SUMMARY = "stored trajectories as they move, two or three components, as an animated GIF or an MP4 video"
FORMATS = (".gif", ".mp4")
COLOURED = 10  # largest number of trajectories with separate colours


def add_options(parser):
    add_phase_options(parser)
    parser.add_argument("--frames", metavar="N", type=positive, help="frames, evenly over the samples; default: up to 200")
    parser.add_argument("--rate", metavar="N", type=positive, default=25, help="frames per second (default: 25)")
    parser.add_argument("--trail", metavar="N", type=positive, help="samples of the past that are drawn; default: a tenth of all")


def run(arguments, output):
    write_bytes(content_of(arguments, output), output)
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


def content_of(arguments, output):
    """The content of the file, whose name says the format."""
    if output.suffix not in FORMATS:
        raise InputError(f"{output}: not a format of 'animate'; the name must end with one of {', '.join(FORMATS)}")
    if output.suffix == ".gif":
        return _gif_of(_images(arguments), arguments.rate)
    program = shutil.which("ffmpeg")
    if program is None:
        raise InputError(f"{output}: an .mp4 needs the program ffmpeg, which is not in PATH; install ffmpeg, or take a name with .gif")
    return _video_of(_images(arguments), arguments.rate, program, output)


def _gif_of(images, rate):
    from PIL import Image

    frames = [Image.fromarray(image).quantize(256, Image.Quantize.FASTOCTREE) for image in images]
    buffer = io.BytesIO()
    frames[0].save(buffer, format="GIF", save_all=True, append_images=frames[1:], duration=round(1000 / rate), loop=0, comment=b"rattleback")
    return buffer.getvalue()


def _video_of(images, rate, program, output):
    """The frames encoded by ffmpeg. The format of the pixels is that which all players show, and wants even sizes."""
    images = (image[:image.shape[0] // 2 * 2, :image.shape[1] // 2 * 2] for image in images)
    first = next(images)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "video.mp4"
        encoder = subprocess.Popen(
            [program, "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{first.shape[1]}x{first.shape[0]}", "-r", str(rate), "-i", "-",
             "-an", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-metadata", "comment=rattleback", "-bitexact", str(place)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

        def frames():  # ffmpeg may end before it has read all
            yield first.tobytes()
            yield from (image.tobytes() for image in images)
        try:
            for frame in frames():
                encoder.stdin.write(frame)
        except BrokenPipeError:
            pass
        said = encoder.communicate()[1].decode(errors="replace").strip().splitlines()
        if encoder.returncode != 0:
            raise InputError(f"{output}: ffmpeg cannot write it ({said[0] if said else f'exit code {encoder.returncode}'}); take a name with .gif")
        return place.read_bytes()


def _images(arguments):
    """The frames as arrays of RGB: all trajectories at the times of the samples, with their trails."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

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
    canvas, first_frame = FigureCanvasAgg(figure), True
    past = arguments.trail or max(1, len(time) // 10)
    frames = min(arguments.frames or 200, len(time))
    for last in np.unique(np.linspace(0, len(time) - 1, frames).round().astype(int)):
        for curve, trail, head in zip(curves, trails, heads):
            for line, first in ((trail, max(0, last - past)), (head, last)):
                part = [values[first:last + 1] for values in curve.point]
                line.set_data_3d(*part) if len(part) == 3 else line.set_data(*part)
        title(axes, f"{result.label}, t = {time[last]:.4g}")
        canvas.draw()
        if first_frame:
            figure.set_layout_engine("none")  # the axes stay where they are
            first_frame = False
        yield np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])
