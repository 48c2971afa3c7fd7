"""Writes `docs/licences.md`: what the package needs to run, in which version, under which licence.

Run by `make audit`; it reads what is installed, and nothing else.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PAGE = Path(__file__).with_name("licences.md")
HEAD = """# Licences

algotransfer has the MIT licence. Its wheel contains Cytoscape.js (MIT) for `explore`. It depends on
the packages below; `make audit` writes this list. Ray, PyTorch and dm-clrs are optional and not
listed.

| package | version | licence |
|---|---|---|
"""


def needed(name: str, found: dict[str, str]) -> None:
    """Adds a package and all that it needs, without its extras."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in found:
        return
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return  # for another platform
    found[key] = f"| {package.metadata['Name']} | {package.version} | {licence(package)} |"
    for text in package.requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            needed(requirement.name, found)


def licence(package) -> str:
    """Its SPDX expression where it has one, otherwise what its classifiers or its field say."""
    metadata = package.metadata
    if metadata.get("License-Expression"):
        return metadata["License-Expression"]
    classifiers = [c for c in metadata.get_all("Classifier") or [] if c.startswith("License ::")]
    if classifiers:
        return ", ".join(sorted({c.rpartition(" :: ")[2] for c in classifiers}))
    return (metadata.get("License") or "not stated").splitlines()[0][:60]


def main() -> None:
    """Writes the page."""
    found: dict[str, str] = {}
    needed("algotransfer", found)
    del found["algotransfer"]
    PAGE.write_text(HEAD + "\n".join(found[key] for key in sorted(found)) + "\n")
    print(f"wrote {PAGE.name}: {len(found)} packages")


if __name__ == "__main__":
    main()
