"""placeholder."""

NAME = "reading"
HELP = "x"


def add_arguments(p): ...
def run(a):
    return 0
