"""Completion scripts for shells."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from duffdp.errors import DuffError

# Where the script goes, below the home folder, and the file and line by which the shell loads it.
SCRIPT_PLACES = {
    "bash": (".bash_completions/duffdp.sh", ".bashrc", "source {script}"),
    "zsh": (".zfunc/_duffdp", ".zshrc", "autoload -Uz compinit; compinit; source {script}"),
    "fish": (".config/fish/completions/duffdp.fish", None, ""),
}


def show(command: click.Command, shell: str) -> None:
    """Print the completion script."""
    click.echo(_script(command, _shell_name(shell)))


def install(command: click.Command, shell: str) -> None:
    """Write the completion script and have the shell load it."""
    name = _shell_name(shell)
    place, startup, line = SCRIPT_PLACES[name]
    path = Path.home() / place
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_script(command, name), encoding="utf-8")
        if startup is not None:
            _add_line(Path.home() / startup, line.format(script=path))
    except OSError as error:
        raise DuffError(f"cannot write {str(path)!r} ({error.strerror}).") from None
    print(f"{name} completion installed in {path}; it works in new shells")


def _shell_name(shell: str) -> str:
    """The shell by its name; without one, the login shell."""
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in SCRIPT_PLACES:
        raise DuffError(
            f"completion is available for {', '.join(SCRIPT_PLACES)}, got "
            f"{name or 'no shell'!r}. Pass "
            "for example --install-completion bash."
        )
    return name


def _script(command: click.Command, shell: str) -> str:
    kind = get_completion_class(shell)
    assert kind is not None
    return kind(command, {}, "duffdp", "_DUFFDP_COMPLETE").source()


def _add_line(path: Path, line: str) -> None:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if line not in text.splitlines():
        path.write_text(f"{text.rstrip()}\n{line}\n".lstrip("\n"), encoding="utf-8")
