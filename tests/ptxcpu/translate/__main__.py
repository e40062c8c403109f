"""python3 -m translate INPUT.ptx --symbol NAME [-o OUTPUT.cpp] [--census FILE]"""

import argparse
import sys

from . import Unsupported, translate
from .census import write_census


def main():
    parser = argparse.ArgumentParser(prog="translate", description=sys.modules[__package__].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", help="a file of PTX")
    parser.add_argument("--symbol", required=True, help="the function that registers the kernels")
    parser.add_argument("-o", "--output", default="-", help="the file for the C++")
    parser.add_argument("--census", help="a file for the number of uses of every opcode")
    arguments = parser.parse_args()
    with open(arguments.input, encoding="utf-8") as file:
        source = file.read()
    try:
        code, census = translate(source, arguments.symbol)
    except Unsupported as error:
        sys.exit(f"{arguments.input}: {error}")
    if arguments.output == "-":
        sys.stdout.write(code)
    else:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(code)
    if arguments.census:
        write_census(census, arguments.census)


if __name__ == "__main__":
    main()
