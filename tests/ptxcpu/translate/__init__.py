"""Translates the PTX of one CUDA translation unit to C++ for the CPU.

Every .func and .entry becomes a C++ function of a thread. Registers become variables, and labels become labels. The
C++ includes device/device.hpp. An opcode or modifier that the translator does not know is an error. An instruction that
only approximates is an error. An instruction that an assembler may contract is an error.
"""

from .kinds import Unsupported
from .module import Translator


def translate(source, symbol):
    """C++ of a PTX text, and how often the text has every opcode.

    The C++ defines `symbol`: the host object calls that function instead of __cudaRegisterFatBinary.
    """
    translator = Translator(source, symbol)
    return translator.translate(), translator.census


__all__ = ["Translator", "Unsupported", "translate"]
