"""What the library has to know about this Python environment."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path


def name_nvrtc() -> None:
    """Names the NVRTC of this interpreter's packages (the extra ``cuda``) to the library, which opens it when a kernel needs it.

    An NVRTC that the user has named goes before it, and so does that of an active conda environment. The library looks elsewhere
    by itself.
    """
    conda = os.environ.get("CONDA_PREFIX")
    if "RATTLEBACK_NVRTC" in os.environ or (conda and any(Path(conda, "lib").glob("libnvrtc.so*"))):
        return
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for place in sorted(Path(folder).glob("*/lib/libnvrtc.so.*"), reverse=True):
            os.environ["RATTLEBACK_NVRTC"] = str(place)
            return
