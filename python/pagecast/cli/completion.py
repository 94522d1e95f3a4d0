"""``pagecast completion``: let a shell complete commands and options."""

import click
from click.shell_completion import get_completion_class

from pagecast.cli.failures import COMPLETION, NAME

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash:  pagecast completion bash > ~/.local/share/bash-completion/completions/pagecast
    zsh:   pagecast completion zsh > "${fpath[1]}/_pagecast"
    fish:  pagecast completion fish > ~/.config/fish/completions/pagecast.fish
    """
    completion = get_completion_class(shell)
    assert completion is not None, "click knows every shell of the choice"
    root = context.find_root().command
    click.echo(completion(root, {}, NAME, COMPLETION).source())
