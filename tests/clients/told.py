"""What the story's scripts share: their arguments, a hard time limit, and one line of outcome per run."""
import argparse
import os
import signal
import sys
import time
import traceback

from story import Mismatch, Refused

LIMIT_SECONDS = 120


def arguments(doc, choices=(), stdio=True, url=True):
    """Parses `--url`, `--key`, `--mode` and `--stdio` as far as the script takes them."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if choices:
        parser.add_argument("--mode", action="append", choices=choices, help="default: all of them, in turn")
    if url:
        parser.add_argument("--url", help="the server's /mcp")
        parser.add_argument("--key", default=os.environ.get("MMW_API_KEY"), help="default: MMW_API_KEY")
    if stdio:
        parser.add_argument("--stdio", nargs=argparse.REMAINDER, help="program and arguments of a stdio server; last")
    options = parser.parse_args()
    if not (getattr(options, "url", None) or getattr(options, "stdio", None)):
        parser.error("say where the server is")
    return options


def npm(program):
    """Returns the start of a command line: a pinned npm program of `install.sh`, run by the pinned node."""
    where = os.environ.get("CLIENTS_DIR") or sys.exit("set CLIENTS_DIR to the DIR that install.sh filled")
    binaries = os.path.join(os.path.abspath(where), "npm", "node_modules", ".bin")
    return [os.path.join(binaries, "node"), os.path.realpath(os.path.join(binaries, program))]


def causes(error):
    """Yields the leaves of an exception group: SDKs wrap what a task raised."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from causes(inner)
    else:
        yield error


def too_long(*_):
    raise TimeoutError(f"not done after {LIMIT_SECONDS} s")


def run(name, act):
    """Runs `act(name)`; prints `ok` and the time, or `FAIL` and the reason and exits 1."""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT_SECONDS)
    began = time.monotonic()
    try:
        act(name)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        for cause in causes(error):
            if not isinstance(cause, (Mismatch, Refused)):
                traceback.print_exception(cause)
            print(f"FAIL {name}: {type(cause).__name__}: {cause}", flush=True)
        sys.exit(1)
    finally:
        signal.alarm(0)
    print(f"ok {name} ({time.monotonic() - began:.1f} s)", flush=True)
