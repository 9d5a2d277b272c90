"""Puts a memoryd into the wheel, if MEMORYD_WHEEL_BINARY names one: a platform wheel.

Hatchling runs it as it builds. The tag of the wheel is of the platform that the binary is for, and
of no version of Python, as no code is compiled against one.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The platforms that Go names with GOOS/GOARCH, as tags of wheels. On Linux a binary without cgo
# needs no C library, so it runs with the oldest ones that a tag names. macOS 12 is the oldest that
# Go 1.26 supports.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}
# A binary with cgo may need the C library of the machine that it was built on: the wheel is for
# machines like that one, and indexes of packages refuse its tag.
CGO_TAGS = {"linux/amd64": "linux_x86_64", "linux/arm64": "linux_aarch64"}


class PlatformWheel(BuildHookInterface):  # type: ignore[type-arg]
    """The hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the binary and the tag to what is built."""
        binary = os.environ.get("MEMORYD_WHEEL_BINARY")
        if not binary or version != "standard":  # an editable install has none
            return
        binary = os.path.abspath(binary)
        try:
            name, tag = described(go_version(binary))
        except ValueError as error:
            raise ValueError(f"MEMORYD_WHEEL_BINARY={binary}: {error}") from None
        build_data["shared_scripts"][binary] = name
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"


def go_version(binary: str) -> str:
    """What go tells of how a binary was built."""
    try:
        return subprocess.run(
            ["go", "version", "-m", binary], capture_output=True, check=True, text=True
        ).stdout
    except FileNotFoundError:
        raise ValueError("go is not on the PATH, which knows the platform of a binary") from None
    except subprocess.CalledProcessError as error:
        raise ValueError(f"it was not built by go: {error.stderr.strip()}") from None


def described(told: str) -> tuple[str, str]:
    """The name that the binary gets and the platform's tag, of what go tells of it."""
    if not re.search(r"^\tpath\t\S*/cmd/memoryd$", told, re.M):
        raise ValueError("it is not memoryd, which go build ./cmd/memoryd makes")
    settings = dict(re.findall(r"^\tbuild\t(\w+)=(.*)$", told, re.M))
    platform = f"{settings.get('GOOS')}/{settings.get('GOARCH')}"
    tags = TAGS if settings.get("CGO_ENABLED") == "0" else {**TAGS, **CGO_TAGS}
    if platform not in tags:
        raise ValueError(f"there is no tag for {platform}: want one of {', '.join(TAGS)}")
    return ("memoryd.exe" if platform.startswith("windows/") else "memoryd"), tags[platform]
