"""Files as typed tables: text of any usual kind, Parquet, Arrow and Excel, with the place of every unreadable cell.

It needs polars (extra `cli`). `table.read_table` is the way in.
"""
