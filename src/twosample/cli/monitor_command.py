"""The command `monitor`: a stream against a reference, one line a batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from twosample.cli.flags import command
from twosample.cli.inputs import Source
from twosample.cli.messages import notes, refusals
from twosample.cli.output import Outputs, echo, this_command
from twosample.data.files.dialect import quoted
from twosample.errors import InputError

if TYPE_CHECKING:
    from twosample.data.files.tail import Tail
    from twosample.data.files.whole import WholeFile
    from twosample.questions.monitor import Monitor, MonitorState

__all__ = ["monitor"]

_ALARM = 1
_EPILOG = """\b
Examples:
  twosample monitor reference.csv today.csv                    today's rows, to the end of the file
  twosample monitor reference.csv --follow log.csv --batch 50  a file that grows, until Ctrl-C
  twosample monitor reference.csv --follow log.csv --exit-on-alarm --state watch.npz && echo stopped
  twosample monitor reference.csv today.csv --report today.html    a page, written anew after every batch

Each row of the reference is compared once, and spent. If nothing changed, the probability of an alarm, however long the
file is followed, is at most --alpha. With --state the work goes on where it stopped, with the same files and options;
a file that does not begin with the rows that were read is refused, or read from its first row with --next-file.
"""


@command(
    "files follow batch alpha exit_on_alarm state next_file "
    "permutations window forget columns drop nan_policy seed report",
    _EPILOG,
    permutations={
        "type": click.IntRange(1, 100_000),
        "default": 199,
        "help": "Relabellings of a batch; its e-value is at most one more.",
    },
    seed={"help": "Seed of the relabellings and of the order of the reference."},
)
def monitor(
    source: Source,
    outputs: Outputs,
    *,
    follow: Path | None,
    next_file: bool,
    batch: int,
    exit_on_alarm: bool,
    seed: int,
    **options: Any,
) -> int:
    """Watch a stream B, batch by batch, against the reference A, and say when it differs."""
    if batch < 2:
        raise InputError(f"--batch: must be at least 2, not {batch}")
    wanted = 1 if follow is not None else 2
    if len(source.files) != wanted:
        raise InputError("pass the reference A, and B or --follow B")
    stream = follow if follow is not None else source.files[1]
    names = (str(source.files[0]), str(stream))
    with notes(), refusals(names):
        watch = _started(source, names, outputs.state, rng=seed, **options)
    rows = _rows(source, stream, batch, watch, follow is not None, outputs.state, next_file)
    state = watch.state
    if state.alarm and exit_on_alarm:
        return _ALARM
    for table, mark in rows.tables():
        if state.spent:
            click.echo(f"note: the reference {quoted(names[0])} is spent; no evidence can be added", err=True)
            break
        with notes(), refusals(names):
            table.check([name for name in watch.state.columns if name in table.frame.columns], options["nan_policy"])
            state = watch.update(table.frame)
            watch.mark(mark)
        if outputs.state is not None:
            watch.save(outputs.state)
        if outputs.report is not None:
            watch.made_by = this_command()
            watch.report(outputs.report)
        click.echo(_line(state))
        if state.alarm and exit_on_alarm:
            return _ALARM
    echo(state.summary())
    return 0


def _started(source: Source, names: tuple[str, str], state_path: Path | None, **options: Any) -> Monitor:
    """A monitor with the reference, where the file of the state has it."""
    from twosample.data.files.table import read_table
    from twosample.questions.monitor import Monitor

    table = read_table(source.files[0], source.reading)
    fresh = Monitor(reference=table.frame, columns=source.columns, drop=source.drop, **options)
    table.check(fresh.state.columns, options["nan_policy"])
    if state_path is None or not state_path.exists():
        return fresh
    try:
        found = Monitor.load(state_path)
    except InputError as error:
        why = error.message.removeprefix("path: ")
        raise InputError(f"--state: {why}", remedy="name another file, or remove this one to begin anew") from None
    if not found.began_as(fresh):
        raise InputError(
            f"--state: {quoted(state_path)} is of another reference, or of other options", remedy="name another file"
        )
    return found


def _rows(
    source: Source, stream: Path, batch: int, watch: Monitor, following: bool, state: Path | None, next_file: bool
) -> Tail | WholeFile:
    """The rows of the stream that have not been seen; a stream that does not begin with those that were is refused."""
    from twosample.data.files.tail import Tail
    from twosample.data.files.whole import WholeFile

    if following and not stream.is_file():
        raise InputError(f"--follow: there is no file {quoted(stream)}")
    mark, received = watch.bookmark, watch.received[1]
    with notes():
        rows = (Tail if following else WholeFile)(stream, source.reading, batch, watch.row_columns, mark)
    if next_file or (rows.found and (mark is not None or not received)):
        return rows
    seen = f"{received:,} rows of an unknown file" if mark is None else f"{mark.rows:,} rows of {quoted(mark.name)}"
    raise InputError(
        f"--state: {quoted(state)} has read {seen}, and {quoted(stream)} does not begin with them",
        remedy="pass the file that was read, name another file for the state, or pass --next-file to read this one "
        "from its first row",
    )


def _line(state: MonitorState) -> str:
    alarm = f", ALARM since batch {state.crossed_at}" if state.alarm else ""
    return (
        f"batch {state.batches}: {state.n_y} rows, log e-value {state.log_evalue:+.2f}{alarm}, "
        f"{state.reference_left} rows of the reference left"
    )
