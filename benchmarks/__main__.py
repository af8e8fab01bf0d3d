"""``python -m benchmarks [NAME]``."""

from __future__ import annotations

import argparse
import sys

from benchmarks import BENCHMARKS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="name", metavar="NAME")
    for module in BENCHMARKS:
        command = commands.add_parser(module.NAME, help=module.HELP, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    commands.add_parser("all", help="every benchmark, one after the other")
    arguments = parser.parse_args()
    if arguments.name == "all":
        # Each with its defaults; the worst exit code tells whether any promise was broken.
        return max(module.run(parser.parse_args([module.NAME])) for module in BENCHMARKS)
    if arguments.name is None:
        for module in BENCHMARKS:
            print(f"{module.NAME:10} {module.HELP}")
        return 0
    code: int = arguments.run(arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
