"""``pagecast`` and ``python -m pagecast``: heeds Ctrl-C before anything is imported that takes time."""

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end Python with its exit code."""
    try:
        from pagecast.stopping import interrupted_by_signals, quiet_from_now_on

        with interrupted_by_signals() as stopped:
            try:
                from pagecast.cli import cli
                from pagecast.cli.failures import run
            except BaseException as error:
                if stopped.is_heard:  # an import makes another failure of it
                    raise KeyboardInterrupt from error
                raise
            code = run(cli, sys.argv[1:] if arguments is None else arguments)
            quiet_from_now_on()
    except KeyboardInterrupt:
        sys.stderr.write("\npagecast: interrupted\n")
        code = 130  # ExitCode.INTERRUPTED, which may not have been imported
    sys.exit(code)


if __name__ == "__main__":
    main()
