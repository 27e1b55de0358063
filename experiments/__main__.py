"""The command: ``python -m experiments list | run | figures | efficiency | gallery | times``."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import fmean

import click

from experiments import efficiency, engines, gallery, runner
from experiments.catalogue import EXPERIMENTS
from experiments.pictures import save_png
from experiments.reading import read_all
from experiments.runner import Experiment, Log, Refusal
from twosample.common.records import write_whole
from twosample.common.threads import cores
from twosample.errors import MissingExtraError

_INTERRUPTED = 130

into = click.option(
    "--into",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=runner.HERE,
    help="Folder of the runs and results, if not this one: for a quick look that leaves the results alone.",
)
names = click.argument("names", nargs=-1, metavar="[NAMES]...")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """The experiments of the paper."""


@cli.command("list")
def show_list() -> None:
    """Show what there is."""
    for one in EXPERIMENTS.values():
        click.echo(f"{one.name:20} {len(one.cells):3} cells × {one.runs} runs  {one.title}")
        click.echo(f"{'':20} {one.paper}")


@cli.command("run")
@names
@click.option("--runs", type=click.IntRange(1), help="Runs of each cell; as many as the experiment says if left out.")
@click.option("--only", default="", metavar="TEXT", help="Only settings that contain this text.")
@click.option("--jobs", type=click.IntRange(1), default=cores(), show_default="all cores", help="Number of processes.")
@click.option("--engine", type=click.Choice(["processes", "dask"]), default="processes", show_default=True)
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler to use, instead of one started here.")
@click.option("--fresh", is_flag=True, help="Forget the runs that are on disk.")
@into
def run_them(
    names: tuple[str, ...],
    runs: int | None,
    only: str,
    jobs: int,
    engine: str,
    scheduler: str | None,
    fresh: bool,
    folder: Path,
) -> None:
    """Compute the runs that are missing, of all experiments or of those named, and write their results."""
    if scheduler and engine != "dask":
        raise click.UsageError("--scheduler needs --engine dask")
    chosen = [one for one in _chosen(names) if any(only in str(cell[0]) for cell in one.cells)]
    if not chosen:
        raise click.UsageError(f"--only: no setting contains {only!r}")
    with _engine(engine, jobs, scheduler) as (pool, slots):
        for one in chosen:
            lacking = one.missing()
            if lacking and names:
                raise Refusal(f"{one.name}: {lacking}")
            if lacking:
                click.echo(f"{one.name}: left out, {lacking}", err=True)
                continue
            click.echo(runner.run(one, pool, slots, runs=runs, only=only, fresh=fresh, folder=folder))


def _engine(engine: str, jobs: int, scheduler: str | None) -> AbstractContextManager[tuple[Executor, int]]:
    return engines.dask(jobs, scheduler) if engine == "dask" else engines.processes(jobs)


@cli.command("figures")
@names
@into
def draw_them(names: tuple[str, ...], folder: Path) -> None:
    """Draw the results, of all experiments or of those named; this computes no tests."""
    for one in _chosen(names):
        path = folder / "results" / f"{one.name}.json"
        if not path.exists():
            words = f"{one.name}: no results in {path}; make them with: python -m experiments run {one.name}"
            if names:
                raise Refusal(words)
            click.echo(words, err=True)
            continue
        picture = path.with_suffix(".png")
        save_png(one.draw(runner.load_results(path)), picture)
        click.echo(f"{one.name}: {picture} ({picture.stat().st_size / 1000:.0f} kB)")


@cli.command("efficiency")
@into
def show_efficiency(folder: Path) -> None:
    """Say how many rows each model needs, from the results of all experiments, as a file and a figure."""
    found = efficiency.compute(read_all(folder))
    path = folder / "results" / "efficiency.json"
    efficiency.write(path, found)
    save_png(efficiency.draw(found), path.with_suffix(".png"))
    click.echo(f"efficiency: {path} and {path.with_suffix('.png')}")


@cli.command("gallery")
@click.option("--check", is_flag=True, help="Write nothing; show what was expected of every claim, and what was found.")
@into
def write_gallery(check: bool, folder: Path) -> None:
    """Write docs/gallery.md from the results of all experiments; with --into, gallery.md in that folder."""
    found = read_all(folder)
    if check:
        _check_claims(gallery.verdicts(found))
        return
    path = runner.HERE.parent / "docs" / "gallery.md" if folder == runner.HERE else folder / "gallery.md"
    text = gallery.markdown(found, folder / "results", path)
    write_whole(path, lambda file: file.write(text.encode()))
    click.echo(f"gallery: {path}")


def _check_claims(verdicts: list[gallery.Verdict]) -> None:
    """A line a claim and model; those that came out otherwise than expected are marked, and make the command fail."""
    words = {True: "agrees", False: "differs"}
    others = 0
    for one in verdicts:
        surprise = one.expected != one.found
        others += surprise
        outcome = f"expected {words[one.expected]:8} found {words[one.found]:8}"
        click.echo(f"{'!' if surprise else ' '} {one.claim.experiment:20} {one.model:12} {outcome} {one.claim.says}")
    if others:
        raise Refusal(f"{others} of {len(verdicts)} are not as expected; see experiments/claims.py")


@cli.command("times")
@names
@click.option("--save", is_flag=True, help="Also write the seconds of each experiment to results/times.json.")
@into
def show_times(names: tuple[str, ...], save: bool, folder: Path) -> None:
    """Show how long the runs on disk took a processor, and would take if there were as many as there should be."""
    totals: dict[str, float] = {}
    for one in _chosen(names):
        path = folder / "runs" / f"{one.name}.jsonl"
        if not path.exists():
            continue
        seconds = defaultdict(list)
        with Log(path, one.identity) as log:
            for (cell, _), record in log.done.items():
                seconds[cell].append(record["seconds"])
        expected = {cell: one.runs * fmean(values) for cell, values in seconds.items()}
        for cell, value in expected.items():
            click.echo(f"{one.name:20} {', '.join(map(str, cell)):50} {fmean(seconds[cell]):9.3f} {value:9.0f} s")
        click.echo(f"{one.name:20} {'in all':50} {'':9} {sum(expected.values()):9.0f} s")
        totals[one.name] = round(sum(expected.values()), 1)
    total = sum(totals.values())
    click.echo(f"{'everything':20} {'':50} {'':9} {total:9.0f} s")
    if save:
        path = folder / "results" / "times.json"
        text = json.dumps({"processor_seconds": totals, "all": round(total)}, indent=1) + "\n"
        write_whole(path, lambda file: file.write(text.encode()))


def _chosen(names: tuple[str, ...]) -> list[Experiment]:
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise click.UsageError(f"{', '.join(unknown)}: unknown; there are {', '.join(EXPERIMENTS)}")
    return [EXPERIMENTS[name] for name in names or EXPERIMENTS]


def main() -> None:
    """Run the command: errors that a person can repair are one line."""
    try:
        cli.main(prog_name="python -m experiments", standalone_mode=False)
    except (Refusal, MissingExtraError) as error:
        _end(f"Error: {error}", 2)
    except click.ClickException as error:
        _end(f"Error: {error.format_message()}", 2)
    except (click.Abort, KeyboardInterrupt):
        _end("Stopped. Finished runs are on disk; the same command goes on from there.", _INTERRUPTED)
    except BrokenProcessPool:
        _end("Error: a process was killed, perhaps for memory. The same command goes on; try fewer --jobs.", 1)


def _end(words: str, status: int) -> None:
    click.echo(words, err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
