"""Streams: evidence against "the same" that may be looked at after every batch, with guarantees that are theorems."""

from twosample.questions.monitor.sequence import in_order, sequential
from twosample.questions.monitor.state import HistoryRow, MonitorState, RunLength
from twosample.questions.monitor.watch import Monitor

__all__ = ["HistoryRow", "Monitor", "MonitorState", "RunLength", "in_order", "sequential"]
