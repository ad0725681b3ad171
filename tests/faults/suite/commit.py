"""The commit of the sources."""
import subprocess

from suite.job import ROOT


def commit():
    """Ends in -dirty if something is changed."""
    return subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], cwd=ROOT, capture_output=True,
                          text=True, check=True).stdout.strip()
