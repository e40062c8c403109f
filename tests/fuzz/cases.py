"""What a case is, and what came of it."""

from dataclasses import dataclass, field

ANYTHING = "*"


@dataclass
class Case:
    kind: str
    arguments: list
    codes: tuple  # what the exit code may be
    result: str = ""  # the one file that appears where the exit code is 0 or 3; or ANYTHING
    reference: str = ""  # what the result must equal where the exit code is 0
    endless: bool = False  # it may ask for more steps than there is time for
    environment: dict = field(default_factory=dict)  # besides that of the fuzzer
    program: list = field(default_factory=list)  # in place of the program


@dataclass
class Outcome:
    code: int
    out: bytes
    err: bytes
    faults: list = field(default_factory=list)
