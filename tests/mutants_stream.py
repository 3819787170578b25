"""Faults in lib.stream, and in how lib.objective uses it, that the tests must find."""

MUTANTS = {
    "Dask arrays are read into memory": (
        "objective.py",
        "if stream.lazy(X) or stream.lazy(y):",
        "if False:",
        "test_stream.py -k 'at_work or one_side'",
    ),
    "labels are not checked": (
        "objective.py",
        "moments(X, y, domain, labels=True)",
        "moments(X, y, domain)",
        "test_stream.py -k labels",
    ),
    "the response keeps chunks of its own": (
        "stream.py",
        "y.rechunk(X.chunks[:1])",
        "y",
        "test_stream.py -k unit_of_work",
    ),
    "a row group is read ahead as a whole": (
        "stream.py",
        "buffer_size=BUFFER, pre_buffer=False",
        "pre_buffer=True",
        "test_stream.py -k long_row_group",
    ),
    "a chunk is a row group, however long": (
        "stream.py",
        "rows = min(CHUNK, group.num_rows - start)",
        "rows = group.num_rows - start",
        "test_stream.py -k 'folder_gives'",
    ),
    "a cut starts where the row group does": (
        "stream.py",
        "first, last = max(start, position)",
        "first, last = max(start, position) - min(start, 1)",
        "test_stream.py -k 'folder_gives'",
    ),
    "the response is taken for a predictor": (
        "stream.py",
        "return table[:, 1:], table[:, 0]",
        "return table[:, :-1], table[:, -1]",
        "test_stream.py -k 'folder_gives'",
    ),
    "missing values become numbers": (
        "stream.py",
        "        if column.null_count:",
        "        if False:",
        "test_stream.py -k missing",
    ),
    "a changed file goes unnoticed": (
        "stream.py",
        "or file.metadata.row_group(group).num_rows != length",
        "",
        "test_stream.py -k change",
    ),
}
