"""Write `docs/licences.md`: the packages that algotransfer needs, with version and licence.

Run by `make audit`; it reads the installed packages only.
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


def add_needed(name: str, found: dict[str, str]) -> None:
    """Add a package and all that it needs, without its extras."""
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
            add_needed(requirement.name, found)


def licence(package) -> str:
    """Return the SPDX expression of a package, or else its classifiers or its field `License`."""
    metadata = package.metadata
    if metadata.get("License-Expression"):
        return metadata["License-Expression"]
    classifiers = [c for c in metadata.get_all("Classifier") or [] if c.startswith("License ::")]
    if classifiers:
        return ", ".join(sorted({c.rpartition(" :: ")[2] for c in classifiers}))
    return (metadata.get("License") or "not stated").splitlines()[0][:60]


def main() -> None:
    """Write the page."""
    found: dict[str, str] = {}
    add_needed("algotransfer", found)
    del found["algotransfer"]
    PAGE.write_text(HEAD + "\n".join(found[key] for key in sorted(found)) + "\n")
    print(f"wrote {PAGE.name}: {len(found)} packages")


if __name__ == "__main__":
    main()
