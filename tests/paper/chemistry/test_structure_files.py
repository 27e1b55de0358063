import gzip
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import twosample as ts
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, MissingExtraError
from twosample.paper.chemistry import cremer_pople, read_rings

Chem = pytest.importorskip("rdkit.Chem", reason="needs the extra chemistry")
from rdkit.Chem import rdDepictor, rdDistGeom, rdForceFieldHelpers  # noqa: E402

CYCLOHEXANE = "C1CCCCC1"
BETA_D_GLUCOSE = "OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O"
DECALIN = "C1CCC2CCCCC2C1"
SPIRO = "C1CCC2(CC1)CCCCC2"
PHENYLCYCLOHEXANE = "c1ccccc1C1CCCCC1"


def embed(smiles, conformers=10, seed=7):
    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    rdDistGeom.EmbedMultipleConfs(molecule, conformers, randomSeed=seed)
    return molecule


def lowest(smiles, seed=7):
    """The conformer of lowest energy among ten."""
    molecule = embed(smiles, seed=seed)
    energies = [energy for _, energy in rdForceFieldHelpers.MMFFOptimizeMoleculeConfs(molecule)]
    return Chem.Mol(molecule, confId=int(np.argmin(energies)))


def write_sdf(path, *molecules):
    path.write_text("".join(f"{Chem.MolToMolBlock(molecule)}$$$$\n" for molecule in molecules))
    return path


@pytest.fixture(scope="module")
def chair():
    return lowest(CYCLOHEXANE)


def test_three_kinds_of_files_agree(tmp_path, chair):
    write_sdf(tmp_path / "a.sdf", chair)
    Chem.MolToMolFile(chair, str(tmp_path / "a.mol"))
    Chem.MolToPDBFile(chair, str(tmp_path / "a.pdb"))
    with gzip.open(tmp_path / "a.SDF.gz", "wt") as file:
        file.write((tmp_path / "a.sdf").read_text())
    rows = [read_rings(tmp_path / name) for name in ("a.sdf", "a.mol", "a.pdb", "a.SDF.gz")]
    for row in rows:
        assert row.coordinates.shape == (1, 2)
        np.testing.assert_array_equal(row.atoms, rows[0].atoms)
        # A PDB file has three decimals, and an amplitude adds up six heights over √6.
        np.testing.assert_allclose(row.coordinates, rows[0].coordinates, rtol=0, atol=2e-3)
    np.testing.assert_array_equal(rows[0].coordinates, rows[1].coordinates)
    q2, q3 = rows[0].coordinates[0]
    assert q2 < 0.01 and abs(q3) == pytest.approx(0.57, abs=0.03)


def test_coordinates_are_those_of_the_file(tmp_path, chair):
    found = read_rings(write_sdf(tmp_path / "a.sdf", chair))
    places = chair.GetConformer().GetPositions()[found.atoms[0]]
    # Four decimals are written.
    np.testing.assert_allclose(found.coordinates[0], cremer_pople(places).amplitudes, rtol=0, atol=1e-3)
    ring = found.atoms[0].tolist()
    bonded = [chair.GetBondBetweenAtoms(a, b) for a, b in zip(ring, ring[1:] + ring[:1], strict=True)]
    assert all(bonded)


def test_a_sugar_is_numbered_as_usual(tmp_path):
    glucose = lowest(BETA_D_GLUCOSE)
    found = read_rings(write_sdf(tmp_path / "glucose.sdf", glucose))
    ring = found.atoms[0]
    elements = [glucose.GetAtomWithIdx(int(atom)).GetSymbol() for atom in ring]
    assert elements == ["O", "C", "C", "C", "C", "C"]

    def oxygens(atom):
        return sum(other.GetSymbol() == "O" for other in glucose.GetAtomWithIdx(int(atom)).GetNeighbors())

    assert oxygens(ring[1]) == 2  # the anomeric carbon
    # β-D-glucopyranose is a ⁴C₁ chair, which is the pole θ = 0 of Cremer and Pople; its mirror image is at 180.
    assert found.puckering.polar[0, 1] < 15
    mirror = Chem.Mol(glucose)
    for atom in range(mirror.GetNumAtoms()):
        mirror.GetConformer().SetAtomPosition(atom, -glucose.GetConformer().GetPositions()[atom])
    assert read_rings(write_sdf(tmp_path / "mirror.sdf", mirror)).puckering.polar[0, 1] > 165


@pytest.mark.parametrize("seed", range(4))
def test_the_order_in_the_file_does_not_matter_where_atoms_differ(tmp_path, seed):
    molecule = lowest("CC1COCCN1")
    order = np.random.default_rng(seed).permutation(molecule.GetNumAtoms()).tolist()
    shuffled = Chem.RenumberAtoms(molecule, order)
    without_hydrogens = Chem.RemoveHs(shuffled)
    first, *others = (read_rings(write_sdf(tmp_path / "a.sdf", one)) for one in (molecule, shuffled, without_hydrogens))
    for other in others:
        np.testing.assert_allclose(other.coordinates, first.coordinates, rtol=0, atol=1e-9)
        np.testing.assert_allclose(other.puckering.phases, first.puckering.phases, rtol=0, atol=1e-9)


def test_hydrogens_do_not_count(tmp_path):
    # Two nitrogens that only their hydrogens tell apart, the one with fewer of them first.
    molecule = lowest("N1CC[NH2+]CC1")
    for one in (molecule, Chem.RemoveHs(molecule)):
        assert read_rings(write_sdf(tmp_path / "a.sdf", one)).atoms[0].tolist() == [0, 1, 2, 3, 4, 5]


def test_ties_go_by_the_order_in_the_file(tmp_path, chair):
    found = read_rings(write_sdf(tmp_path / "a.sdf", chair))
    assert found.atoms[0].tolist() == [0, 1, 2, 3, 4, 5]
    shifted = Chem.RenumberAtoms(chair, [5, 0, 1, 2, 3, 4, *range(6, chair.GetNumAtoms())])
    after = read_rings(write_sdf(tmp_path / "b.sdf", shifted))
    assert after.coordinates[0, 1] == pytest.approx(-found.coordinates[0, 1], abs=1e-9)
    np.testing.assert_allclose(after.folded, found.folded, rtol=0, atol=1e-9)


def test_which_rings(tmp_path):
    def count(smiles, **options):
        return len(read_rings(write_sdf(tmp_path / "a.sdf", lowest(smiles)), **options))

    assert count(DECALIN) == 0 and count(DECALIN, monocyclic=False) == 2
    assert count(SPIRO) == 0 and count(SPIRO, monocyclic=False) == 2
    assert count(PHENYLCYCLOHEXANE) == 1 and count(PHENYLCYCLOHEXANE, aromatic=True) == 2
    assert count("C1CCCCC1CC1CCCCC1") == 2
    assert count("C1CCCC1") == 0 and count("C1CCCC1", ring_size=5) == 1
    assert count(CYCLOHEXANE, ring_size=5) == 0


def test_a_flat_aromatic_ring(tmp_path):
    found = read_rings(write_sdf(tmp_path / "a.sdf", lowest("c1ccccc1")), aromatic=True)
    # Benzene is flat to what the force field and four decimals leave.
    assert found.puckering.total[0] < 2e-3


def test_conformers_and_several_files(tmp_path):
    molecule = embed("C1CCCCCC1", conformers=5)
    Chem.MolToPDBFile(molecule, str(tmp_path / "seven.pdb"))
    write_sdf(tmp_path / "chairs.sdf", lowest("C1CCCCCC1", seed=1), lowest("C1CCCCCC1", seed=2))
    found = read_rings([str(tmp_path / "seven.pdb"), tmp_path / "chairs.sdf"], ring_size=7)
    assert len(found) == found.n_records == 7
    assert found.sources[4] == f"{tmp_path / 'seven.pdb'}:5" and found.sources[6] == f"{tmp_path / 'chairs.sdf'}:2"
    assert found.columns == ("q2", "q3") and (found.coordinates >= 0).all()
    places = np.stack([one.GetPositions()[found.atoms[0]] for one in molecule.GetConformers()])
    np.testing.assert_allclose(found.coordinates[:5], cremer_pople(places).amplitudes, rtol=0, atol=3e-3)
    assert list(found.table) == ["source", "title", "q2", "phi2", "q3", "phi3"]


def test_table_and_text(tmp_path, chair):
    named = Chem.Mol(chair)
    named.SetProp("_Name", "cyclohexane")
    found = read_rings(write_sdf(tmp_path / "a.sdf", named, chair))
    assert found.titles == ("cyclohexane", "")
    assert repr(found) == "RingTable(2 rings of 6 atoms in 2 records)"
    for library in (pl, pd):
        frame = library.DataFrame(found.table)
        assert list(frame.columns) == ["source", "title", "q2", "phi2", "q3"] and len(frame) == 2
        np.testing.assert_array_equal(frame["q3"].to_numpy(), found.coordinates[:, 1])


def test_from_files_to_an_answer(tmp_path):
    six = read_rings(write_sdf(tmp_path / "a.sdf", *(lowest("C1CCOCC1", seed=seed) for seed in range(1, 11))))
    other = read_rings(write_sdf(tmp_path / "b.sdf", *(lowest("C1CC=CCC1", seed=seed) for seed in range(1, 11))))
    noise = np.random.default_rng(0).normal(0, 0.01, (2, 10, 2))
    assert ts.test(six.folded + noise[0], other.folded + noise[1]).prob_h1 > 0.9


def flat_block():
    molecule = Chem.MolFromSmiles("C1CCCCC1")
    rdDepictor.Compute2DCoords(molecule)
    molecule.SetProp("_Name", "flat")
    return Chem.MolToMolBlock(molecule)


def test_bad_records_are_left_out_and_counted(tmp_path, chair):
    good = Chem.MolToMolBlock(chair)
    broken = good.replace(" 18 18 ", " 18 99 ")
    assert broken != good
    path = tmp_path / "mixed.sdf"
    path.write_text("$$$$\n".join([good, broken, flat_block(), "nonsense\n", good]))
    with pytest.warns(DroppedDataWarning, match=r"Left out 3 of 5 records.*mixed.sdf:2' cannot be read") as caught:
        found = read_rings(path)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert len(found) == 2 and found.n_records == 5
    assert [source.rsplit(":")[-1] for source in found.sources] == ["1", "5"]
    assert found.skipped[1].endswith(":3' ('flat') has no 3-D coordinates")
    assert repr(found) == "RingTable(2 rings of 6 atoms in 5 records, 3 left out)"


def test_long_lists_of_bad_records_are_cut(tmp_path, chair):
    path = tmp_path / "mixed.sdf"
    path.write_text("$$$$\n".join([Chem.MolToMolBlock(chair), *(["nonsense\n"] * 9)]))
    with pytest.warns(DroppedDataWarning, match=r"Left out 9 of 10 .*; and 6 more\.$"):
        assert len(read_rings(path).skipped) == 9


def test_rings_without_a_shape_are_left_out(tmp_path, chair):
    collapsed = Chem.Mol(chair)
    collapsed.GetConformer().SetAtomPosition(2, collapsed.GetConformer().GetAtomPosition(0))
    path = write_sdf(tmp_path / "a.sdf", collapsed, chair)
    with pytest.warns(DroppedDataWarning, match=r"a.sdf:1': a ring has two atoms in one place"):
        found = read_rings(path)
    assert found.sources == (f"{path}:2",) and found.atoms.shape == (1, 6)


def test_an_impossible_valence_does_not_matter(tmp_path):
    # A carbon with five bonds beside a cyclohexane and a benzene ring, which is still seen to be aromatic.
    molecule = lowest("C1CCCCC1C(C)(C)c1ccccc1")
    edited = Chem.RWMol(Chem.RemoveHs(molecule))
    extra = edited.AddAtom(Chem.Atom("F"))
    edited.AddBond(6, extra, Chem.BondType.SINGLE)
    edited.GetConformer().SetAtomPosition(extra, [0.0, 0.0, 9.0])
    path = tmp_path / "a.mol"
    path.write_text(Chem.MolToMolBlock(edited))
    assert len(read_rings(path)) == 1 and len(read_rings(path, aromatic=True)) == 2


def test_nothing_to_read(tmp_path):
    path = tmp_path / "bad.sdf"
    path.write_text("nonsense\n$$$$\nmore nonsense\n$$$$\n")
    with pytest.raises(InputError, match=r"paths: no record can be used: .*bad.sdf:1' cannot be read"):
        read_rings(path)
    path.write_text("")
    with pytest.raises(InputError, match="paths: no record can be used: the files hold no records"):
        read_rings(path)
    for name in ("bad.pdb", "bad.mol"):
        (tmp_path / name).write_text("")
        with pytest.raises(InputError, match="paths: no record can be used"):
            read_rings(tmp_path / name)
    (tmp_path / "bad.sdf.gz").write_text("not compressed")
    with pytest.raises(InputError, match=r"paths: .*bad.sdf.gz' cannot be read"):
        read_rings(tmp_path / "bad.sdf.gz")


def test_refused_files(tmp_path):
    with pytest.raises(InputError, match="paths: there is no file"):
        read_rings(tmp_path / "none.sdf")
    with pytest.raises(InputError, match="is a folder"):
        read_rings(tmp_path)
    (tmp_path / "a.cif").touch()
    with pytest.raises(InputError, match=r"a.cif' is none of the files that can be read \(.sdf"):
        read_rings(tmp_path / "a.cif")
    with pytest.raises(InputError, match="paths is empty"):
        read_rings([])
    for paths in (3, b"a.sdf", [3], None):
        with pytest.raises(InputTypeError, match=r"^paths"):
            read_rings(paths)
    with pytest.raises(InputError, match="ring_size: must be at least 4, not 3"):
        read_rings(tmp_path / "none.sdf", ring_size=3)
    with pytest.raises(InputTypeError, match=r"ring_size: expected a whole number, got 6\.5"):
        read_rings(tmp_path / "none.sdf", ring_size=6.5)


def test_without_rdkit(monkeypatch, tmp_path, chair):
    path = write_sdf(tmp_path / "a.sdf", chair)
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match=r"^read_rings needs rdkit; .*twosample\[chemistry\]"):
        read_rings(path)
    assert cremer_pople(chair.GetConformer().GetPositions()[:6]).amplitudes.shape == (2,)
