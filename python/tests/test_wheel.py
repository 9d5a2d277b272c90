"""What hatch_build.py makes of a binary. A test of memoryd's repository builds a whole wheel."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "hatch_build", Path(__file__).parent.parent / "hatch_build.py"
)
assert _spec and _spec.loader
hatch_build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hatch_build)


def told(path: str = "github.com/memoryd/memoryd/cmd/memoryd", **settings: str) -> str:
    lines = [f"\tpath\t{path}", "\tdep\tgolang.org/x/sys\tv0.1.0\th1:x="]
    return "\n".join([*lines, *(f"\tbuild\t{name}={value}" for name, value in settings.items())])


@pytest.mark.parametrize(
    ("system", "machine", "cgo", "name", "tag"),
    [
        ("linux", "amd64", "0", "memoryd", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
        ("linux", "amd64", "1", "memoryd", "linux_x86_64"),
        ("linux", "arm64", "1", "memoryd", "linux_aarch64"),
        ("darwin", "arm64", "0", "memoryd", "macosx_12_0_arm64"),
        ("darwin", "arm64", "1", "memoryd", "macosx_12_0_arm64"),
        ("windows", "amd64", "0", "memoryd.exe", "win_amd64"),
    ],
)
def test_tag(system: str, machine: str, cgo: str, name: str, tag: str) -> None:
    text = told(GOOS=system, GOARCH=machine, CGO_ENABLED=cgo)
    assert hatch_build.described(text) == (name, tag)


def test_refused() -> None:
    with pytest.raises(ValueError, match="not memoryd"):
        hatch_build.described(told("golang.org/x/tools/gopls", GOOS="linux", GOARCH="amd64"))
    with pytest.raises(ValueError, match="no tag for plan9/arm: want one of linux/amd64"):
        hatch_build.described(told(GOOS="plan9", GOARCH="arm", CGO_ENABLED="0"))
    with pytest.raises(ValueError, match="go"):  # which it either lacks, or which does not know it
        hatch_build.go_version(sys.executable)
