"""Rings in structure files, read by RDKit: search, numbering of the atoms, and puckering coordinates."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.common.arguments import count_of
from twosample.common.arrays import Array
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, MissingExtraError, warn
from twosample.paper.chemistry.geometry import Puckering, faults, puckering_of

__all__ = ["RingTable", "read_rings"]


_SDF, _MOL, _PDB = (".sdf", ".sd"), (".mol", ".mdl"), (".pdb", ".ent")
_LISTED = 3


@dataclass(frozen=True, eq=False, repr=False)
class RingTable:
    """The rings found in structure files, one row each.

    Attributes
    ----------
    puckering
        Puckering coordinates of the n rings, in the units of the files (ångström).
    sources
        Where each ring was found, such as "set.sdf:3" for the third record of a file or the third model of a PDB file.
    titles
        The title of each ring's record, "" where it has none.
    atoms
        Which atoms of the record the ring consists of, counted from 0, in the order of the numbering, shape (n, N).
    n_records
        Number of records (models) read, with those left out.
    skipped
        One phrase for each record or ring that was left out.

    Examples
    --------
    See `read_rings`.
    """

    puckering: Puckering
    sources: tuple[str, ...]
    titles: tuple[str, ...]
    atoms: NDArray[np.int64]
    n_records: int
    skipped: tuple[str, ...]

    @property
    def coordinates(self) -> Array:
        """The amplitudes, shape (n, ⌊N/2⌋ - 1), to pass to a test: (q2, q3) of six-membered rings, as in the paper."""
        return self.puckering.amplitudes

    @property
    def folded(self) -> Array:
        """The same without the sign of the last column, which for even N is a matter of numbering."""
        return self.puckering.folded

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of `coordinates`."""
        return self.puckering.columns

    @property
    def table(self) -> dict[str, list[str] | Array]:
        """Columns by name, for a data frame of any library: source, title, q2, phi2 (radians), q3, ..."""
        shape = self.puckering
        values = dict(zip(shape.columns, shape.amplitudes.T, strict=True))
        values |= dict(zip(shape.phase_columns, shape.phases.T, strict=True))
        order = [name for m in range(2, 2 + len(shape.columns)) for name in (f"q{m}", f"phi{m}") if name in values]
        return {"source": list(self.sources), "title": list(self.titles)} | {name: values[name] for name in order}

    def __len__(self) -> int:
        """Return the number of rings."""
        return len(self.sources)

    def __repr__(self) -> str:
        """Return the number of rings, in one line."""
        left_out = f", {len(self.skipped)} left out" if self.skipped else ""
        return f"RingTable({len(self)} rings of {self.puckering.size} atoms in {self.n_records} records{left_out})"


def read_rings(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    ring_size: int = 6,
    monocyclic: bool = True,
    aromatic: bool = False,
) -> RingTable:
    """Read the puckering coordinates of every ring of a size from structure files; needs the extra ``chemistry``.

    Parameters
    ----------
    paths
        One or more SDF (.sdf, .sd), MOL (.mol, .mdl) or PDB (.pdb, .ent) files, also compressed (.gz). Every record of
        an SDF file and every model of a PDB file counts.
    ring_size
        Number of atoms of the rings wanted, at least 4.
    monocyclic
        Whether to leave out rings that share an atom with another ring (fused, bridged and spiro), as the paper does.
    aromatic
        Whether to keep aromatic rings, which are flat; the paper's data has none. They are recognised by their bond
        orders: a PDB file that lacks these keeps them.

    Returns
    -------
    RingTable
        With ``coordinates``, the array for `twosample.test`. It has no rows if no ring fits.

    Raises
    ------
    InputError, InputTypeError
        If a file does not exist, is of another kind, or no record of any file can be used.
    MissingExtraError
        If RDKit is not installed.

    Warns
    -----
    DroppedDataWarning
        If records were left out because they cannot be read or have no 3-D coordinates, or rings because their atoms
        span no plane.

    Notes
    -----
    The sign of q3 and the phases depend on where the numbering of a ring starts and which way it goes. It starts at the
    atom that ranks highest, and goes towards the neighbour that does: heavier elements first, then heavier
    substituents, and so on outwards; hydrogens and bond orders do not count. A sugar is thus numbered from the ring
    oxygen to the anomeric carbon, as usual, and its ⁴C₁ chair has q3 > 0 if it is D. Atoms that rank the same (all of
    those in cyclohexane) come in the order of the file, so that the sign is arbitrary for symmetric rings, as it is in
    the paper's data, where most rings come with both signs. Compare `RingTable.folded` instead of ``coordinates``
    where two sets of files could differ in how their atoms are numbered.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from rdkit import Chem
    >>> from rdkit.Chem.rdDistGeom import EmbedMultipleConfs
    >>> molecule = Chem.AddHs(Chem.MolFromSmiles("C1CCOCC1"))
    >>> conformers = EmbedMultipleConfs(molecule, 3, randomSeed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "oxane.pdb")
    ...     Chem.MolToPDBFile(molecule, str(path))
    ...     rings = read_rings(path)
    >>> rings, rings.columns, rings.coordinates.shape
    (RingTable(3 rings of 6 atoms in 3 records), ('q2', 'q3'), (3, 2))
    """
    size = count_of(ring_size, "ring_size", 4)  # smaller rings are always flat
    files = _check_files(paths)
    try:
        from rdkit import rdBase
    except ImportError:
        raise MissingExtraError("read_rings", "rdkit", "chemistry") from None

    rings: list[_Ring] = []
    skipped: list[str] = []
    n_records = 0
    with rdBase.BlockLogs():
        for record in chain.from_iterable(map(_records, files)):
            n_records += 1
            if record.fault:
                skipped.append(f"{_place(record)} {record.fault}")
            else:
                rings += _rings_of(record, size, monocyclic=monocyclic, aromatic=aromatic)
    if len(skipped) == n_records:
        reasons = _listed(skipped) if skipped else "the files hold no records"
        raise InputError(f"paths: no record can be used: {reasons}")

    coordinates = np.array([ring.coordinates for ring in rings], dtype=np.float64).reshape(-1, size, 3)
    keep = np.ones(len(rings), dtype=bool)
    for fault, bad in faults(coordinates):
        skipped += [f"{_place(rings[index])}: a ring {fault}" for index in np.flatnonzero(bad & keep)]
        keep &= ~bad
    if skipped:
        said = f"Left out {len(skipped)} of {n_records} records, or rings of them: {_listed(skipped)}."
        warn(DroppedDataWarning(said))
    kept = list(compress(rings, keep))
    return RingTable(
        puckering=puckering_of(coordinates[keep], (len(kept),)),
        sources=tuple(ring.source for ring in kept),
        titles=tuple(ring.title for ring in kept),
        atoms=np.array([ring.atoms for ring in kept], dtype=np.int64).reshape(-1, size),
        n_records=n_records,
        skipped=tuple(skipped),
    )


class _Record(NamedTuple):
    """A molecule with one set of coordinates; both are None where it cannot be read."""

    path: Path
    number: int
    molecule: Any
    conformer: Any

    @property
    def source(self) -> str:
        return f"{self.path}:{self.number}"

    @property
    def title(self) -> str:
        has_title = self.molecule is not None and self.molecule.HasProp("_Name")
        return str(self.molecule.GetProp("_Name")).strip() if has_title else ""

    @property
    def fault(self) -> str:
        if self.molecule is None:
            return "cannot be read"
        return "" if self.conformer.Is3D() else "has no 3-D coordinates"


class _Ring(NamedTuple):
    source: str
    title: str
    atoms: tuple[int, ...]
    coordinates: Array


def _check_files(paths: Any) -> list[Path]:
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise InputTypeError(f"paths must be the path of a file or several of them, not a {type(paths).__name__}")
    files = []
    for path in given:
        if not isinstance(path, str | os.PathLike):
            raise InputTypeError(f"paths holds a {type(path).__name__}; pass paths of files")
        file = Path(path)
        if file.is_dir():
            raise InputError(f"paths: {str(file)!r} is a folder; pass its files: Path(...).glob('*.sdf')")
        if not file.is_file():
            raise InputError(f"paths: there is no file {str(file)!r}")
        if _kind(file) not in _SDF + _MOL + _PDB:
            kinds = ", ".join(_SDF + _MOL + _PDB)
            raise InputError(f"paths: {str(file)!r} is none of the files that can be read ({kinds}, or these with .gz)")
        files.append(file)
    if not files:
        raise InputError("paths is empty; pass at least one file")
    return files


def _kind(path: Path) -> str:
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def _records(path: Path) -> Iterator[_Record]:
    from rdkit import Chem

    number = 0
    for block in _blocks(path):
        # Only bonds and positions are needed, so that molecules with an impossible valence are read too.
        read = Chem.MolFromPDBBlock if _kind(path) in _PDB else Chem.MolFromMolBlock
        molecule = read(block, sanitize=False, removeHs=False)
        if molecule is None or not molecule.GetNumConformers():
            number += 1
            yield _Record(path, number, None, None)
            continue
        molecule.UpdatePropertyCache(strict=False)
        checks = Chem.SanitizeFlags.SANITIZE_ALL ^ Chem.SanitizeFlags.SANITIZE_PROPERTIES
        Chem.SanitizeMol(molecule, checks, catchErrors=True)
        for conformer in molecule.GetConformers():
            number += 1
            yield _Record(path, number, molecule, conformer)


def _blocks(path: Path) -> Iterator[str]:
    """The text of each record of an SDF file; of any other file, its whole text."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", errors="replace") as lines:
            if _kind(path) not in _SDF:
                yield lines.read()
                return
            block: list[str] = []
            for line in lines:
                if line.startswith("$$$$"):
                    yield "".join(block)
                    block = []
                else:
                    block.append(line)
            if "".join(block).strip():
                yield "".join(block)
    except (OSError, EOFError) as error:
        raise InputError(f"paths: {str(path)!r} cannot be read ({error})") from error


def _rings_of(record: _Record, size: int, *, monocyclic: bool, aromatic: bool) -> list[_Ring]:
    from rdkit import Chem

    molecule = record.molecule
    all_rings = [tuple(ring) for ring in Chem.GetSymmSSSR(molecule)]
    n_rings = np.bincount([atom for ring in all_rings for atom in ring], minlength=molecule.GetNumAtoms())

    def is_wanted(ring: tuple[int, ...]) -> bool:
        if len(ring) != size or (monocyclic and (n_rings[list(ring)] > 1).any()):
            return False
        return aromatic or not all(molecule.GetAtomWithIdx(atom).GetIsAromatic() for atom in ring)

    wanted = list(filter(is_wanted, all_rings))
    if not wanted:
        return []
    positions, ranks = record.conformer.GetPositions(), _ranks(molecule)
    numbered = [_numbered(ring, ranks) for ring in wanted]
    return [_Ring(record.source, record.title, atoms, positions[list(atoms)]) for atoms in numbered]


def _ranks(molecule: Any) -> list[int]:
    """Ranks of the atoms by element, refined by the ranks of their neighbours until the number of ranks is stable."""
    atoms = list(molecule.GetAtoms())
    neighbours = [[other.GetIdx() for other in atom.GetNeighbors() if other.GetAtomicNum() > 1] for atom in atoms]
    ranks, n_ranks = _dense([atom.GetAtomicNum() for atom in atoms]), 0
    while max(ranks) + 1 > n_ranks:
        n_ranks = max(ranks) + 1
        around = [tuple(sorted((ranks[other] for other in others), reverse=True)) for others in neighbours]
        ranks = _dense(list(zip(ranks, around, strict=True)))
    return ranks


def _dense(keys: Sequence[Any]) -> list[int]:
    rank_of = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [rank_of[key] for key in keys]


def _numbered(atoms: tuple[int, ...], ranks: list[int]) -> tuple[int, ...]:
    """The ring from its highest atom towards its higher neighbour, in the order of the file where these are equal."""
    ways = [way[start:] + way[:start] for way in (atoms, atoms[::-1]) for start in range(len(atoms))]
    return max(ways, key=lambda way: ([ranks[atom] for atom in way], [-atom for atom in way]))


def _place(one: _Record | _Ring) -> str:
    return repr(one.source) + (f" ({one.title!r})" if one.title else "")


def _listed(phrases: list[str]) -> str:
    more = f"; and {len(phrases) - _LISTED} more" if len(phrases) > _LISTED else ""
    return "; ".join(phrases[:_LISTED]) + more
