"""Registries: objects by name, imported on first use.

An entry is the object itself or a `"module:attribute"` string, so that the names are known without
importing jax. Register a new object with one line, such as `ALGORITHMS["mine"] = algorithm`. An
unknown name is looked up again after plugins have been loaded.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from difflib import get_close_matches
from importlib import import_module
from typing import Generic, TypeVar, cast

from algotransfer.errors import UserError, shown
from algotransfer.plugins import load_plugins

Entry = TypeVar("Entry")
REGISTER_FIRST = (
    "if it is your own, import the file that registers it first (on the command line, run `python "
    "FILE` instead of `algotransfer`)"
)


class UnknownName(UserError, KeyError):
    """A name that is not registered; a `KeyError`, so that `Mapping.get` and `pop` work."""

    __str__ = ValueError.__str__


class NotRegistered(UnknownName):
    """A name that the user's own code may register."""


class Registry(MutableMapping[str, Entry], Generic[Entry]):
    """A mapping from names to objects of one kind, whose name error messages use."""

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, Entry | str] | None = None,
        summaries: Mapping[str, tuple[str, ...]] | None = None,
        entry_type: str | None = None,
    ):
        self.kind = kind
        self._entry_type = entry_type  # "module:class" that entries are instances of; None: any
        self._entries: dict[str, Entry | str] = dict(entries or {})
        self._summaries = dict(summaries or {})  # of entries, for lists that must not import them

    def check(self, *names: str) -> None:
        """Raise a `UserError` with the nearest name for the first unknown one.

        Imports no entry, but plugins if a name is unknown.
        """
        for name in names:
            if name not in self:
                load_plugins()
            check_name(self.kind, name, self._entries, NotRegistered)

    def __getitem__(self, name: str) -> Entry:
        self.check(name)
        entry = self._entries[name]
        if isinstance(entry, str):
            loaded = self._load(name, entry)
            self._check_type(name, loaded)
            entry = self._entries[name] = loaded
        return cast(Entry, entry)

    def _load(self, name: str, entry: str) -> Entry:
        """Import an entry; an exception inside an existing module keeps its traceback."""
        module, _, attribute = entry.partition(":")
        try:
            found = import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise
            reason = f"there is no module {error.name}"
        else:
            if hasattr(found, attribute):
                return getattr(found, attribute)
            known = [name for name in vars(found) if not name.startswith("_")]
            reason = f"the module {module} has no {attribute!r:.80}{nearest(attribute, known)}"
        raise UserError(
            f"the {self.kind} {name!r:.80} is registered as {entry!r:.80}, but {reason}; register "
            "it as 'module:attribute'"
        )

    def _check_type(self, name: str, entry: Entry) -> None:
        """Raise a `UserError` unless an entry is an instance of the class of this registry."""
        if self._entry_type is None:
            return
        module, _, attribute = self._entry_type.partition(":")
        if not isinstance(entry, getattr(import_module(module), attribute)):
            hint = (
                f": register {entry.__name__}(), not the class" if isinstance(entry, type) else ""
            )
            raise UserError(
                f"the {self.kind} {name!r:.80} is {shown(entry)}, of type {type(entry).__name__}; "
                f"expected an instance of {attribute}, or its place as 'module:attribute'{hint}"
            )

    def summary(self, name: str, summarise: Callable[[Entry], tuple[str, ...]]) -> tuple[str, ...]:
        """Return the words of a list about an entry; import it only if it has no summary."""
        return self._summaries[name] if name in self._summaries else summarise(self[name])

    def __setitem__(self, name: str, entry: Entry | str) -> None:
        if not isinstance(entry, str):
            self._check_type(name, entry)
        self._entries[name] = entry
        self._summaries.pop(name, None)

    def __delitem__(self, name: str) -> None:
        self.check(name)
        del self._entries[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._entries  # imports nothing

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<registry of {len(self)} entries ({self.kind}): {', '.join(self)}>"


def check_name(
    kind: str, name: str, known: Iterable[str], error: type[UnknownName] = UnknownName
) -> None:
    """Raise a `UserError` with the nearest match if `name` is not one of `known`."""
    known = tuple(known)
    if not isinstance(name, str) or name not in known:
        raise error(
            f"unknown {kind} {shown(name)}{nearest(name, known)}; "
            f"choose one of {', '.join(map(str, known))}"
        )


def nearest(name: str, known: Iterable[str], most: int = 1) -> str:
    """Return the known names closest to `name` as a question in brackets, or an empty string."""
    known = list(dict.fromkeys(known))
    close = get_close_matches(str(name), known, n=most)
    close = close or [each for each in known if each.lower() == str(name).lower()]
    return f" (did you mean {' or '.join(f'{name!r:.80}' for name in close)}?)" if close else ""
