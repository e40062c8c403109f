"""What the library has to know about this Python environment."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path


def name_nvrtc() -> None:
    """Names the NVRTC of this environment (the extra ``cuda``) to the library, which opens it when a kernel needs it."""
    if "RATTLEBACK_NVRTC" in os.environ:
        return
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for place in sorted(Path(folder).glob("*/lib/libnvrtc.so.*"), reverse=True):
            os.environ["RATTLEBACK_NVRTC"] = str(place)
            return
