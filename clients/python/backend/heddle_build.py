"""Builds the package with the standard library alone (PEP 517), so that `pip install` of this folder fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, Optional

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "heddle"
#: Files of a source distribution besides the package.
SOURCES = ("README.md", "pyproject.toml", "backend/heddle_build.py")


def build_wheel(
    wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    stem = _stem()
    info = f"{stem}.dist-info"
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in _modules()}
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: heddle_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
    return name


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    stem = _stem()
    name = f"{stem}.tar.gz"
    with tarfile.open(Path(sdist_directory) / name, "w:gz") as archive:
        for path in [*_modules(), *(ROOT / each for each in SOURCES)]:
            archive.add(path, f"{stem}/{path.relative_to(ROOT).as_posix()}")
        metadata = _metadata().encode()
        entry = tarfile.TarInfo(f"{stem}/PKG-INFO")
        entry.size = len(metadata)
        archive.addfile(entry, io.BytesIO(metadata))
    return name


def _modules() -> "list[Path]":
    return sorted((ROOT / PACKAGE).rglob("*.py"))


def _project() -> Dict[str, str]:
    """The texts of the table `project`: Python reads TOML by itself only from 3.11 on."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = text.split("[project]\n", 1)[1].split("\n[", 1)[0]
    return dict(re.findall(r'^([\w-]+) = "([^"]*)"$', table, re.MULTILINE))


def _stem() -> str:
    project = _project()
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _metadata() -> str:
    project = _project()
    fields = {
        "Metadata-Version": "2.1",
        "Name": project["name"],
        "Version": project["version"],
        "Summary": project["description"],
        "License": "MIT",
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    readme = (ROOT / project["readme"]).read_text(encoding="utf-8")
    return "\n".join([*(f"{name}: {value}" for name, value in fields.items()), "", readme])


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
