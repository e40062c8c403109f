"""What `pip install .` calls: scikit-build-core, with a line on the terminal that says what is compiled and how far it is.

pip shows what a build prints only when it fails or with -v, so that minutes of compilation would pass in silence.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from typing import Any, Iterator

import scikit_build_core.build as scikit
from scikit_build_core.build import *  # noqa: F403  the hooks that compile nothing

WHAT = "rattleback: compiling the extension for Python, some minutes of a processor"
STEP = re.compile(rb"\[(\d+)/(\d+)\]")  # of ninja


def line(done: int, of: int, seconds: float) -> str:
    """The line after `done` of `of` steps."""
    bar = "#" * (20 * done // max(of, 1))
    return f"{WHAT} [{bar:<20}] {done}/{of}, {seconds:.0f} s "


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Reads what is printed meanwhile, passes it on, and draws the line. Does nothing where there is no terminal."""
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8")
    except OSError:
        yield
        return
    start, (reader, writer), output = time.monotonic(), os.pipe(), os.dup(1)

    def draw(text: str) -> None:
        with contextlib.suppress(OSError):
            terminal.write("\r\x1b[2K" + text)
            terminal.flush()

    def pass_on() -> None:
        rest = b""
        while block := os.read(reader, 1 << 16):
            os.write(output, block)
            steps = STEP.findall(rest + block)
            rest = (rest + block)[-32:]
            if steps:
                done, of = map(int, steps[-1])
                draw(line(done, of, time.monotonic() - start))

    thread = threading.Thread(target=pass_on)
    thread.start()
    os.dup2(writer, 1)
    os.close(writer)
    draw(WHAT + " ")
    try:
        yield
    finally:
        os.dup2(output, 1)  # closes the last end that writes
        thread.join()
        draw("")
        terminal.close()
        os.close(reader)
        os.close(output)


def build_wheel(*args: Any, **options: Any) -> str:
    with told():
        return scikit.build_wheel(*args, **options)


def build_editable(*args: Any, **options: Any) -> str:
    with told():
        return scikit.build_editable(*args, **options)
