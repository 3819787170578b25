"""Faults in dpreg.pipeline.stream, and in how dpreg.pipeline.objective uses it, that the tests must find."""

MUTANTS = {
    "Dask arrays are read into memory": (
        "dpreg.pipeline.objective.add_up",
        "if stream.lazy(X) or stream.lazy(y):",
        "if False:",
        "test_stream.py -k 'at_work or one_side'",
    ),
    "labels are not checked": (
        "dpreg.pipeline.objective.logistic",
        "moments(X, y, domain, labels=True, bits=bits)",
        "moments(X, y, domain)",
        "test_stream.py -k labels",
    ),
    "the response keeps chunks of its own": (
        "dpreg.pipeline.stream.add_up",
        "y.rechunk(X.chunks[:1])",
        "y",
        "test_stream.py -k unit_of_work",
    ),
    "a row group is read ahead as a whole": (
        "dpreg.pipeline.stream._read",
        "buffer_size=BUFFER, pre_buffer=False",
        "pre_buffer=True",
        "test_stream.py -k long_row_group",
    ),
    "a chunk is a row group, however long": (
        "dpreg.pipeline.stream._slices",
        "rows = min(CHUNK, group.num_rows - start)",
        "rows = group.num_rows - start",
        "test_stream.py -k 'folder_gives'",
    ),
    "a cut starts where the row group does": (
        "dpreg.pipeline.stream._read",
        "first, last = max(start, position)",
        "first, last = max(start, position) - min(start, 1)",
        "test_stream.py -k 'folder_gives'",
    ),
    "the response is taken for a predictor": (
        "dpreg.pipeline.stream.parquet",
        "return table[:, 1:], table[:, 0]",
        "return table[:, :-1], table[:, -1]",
        "test_stream.py -k 'folder_gives'",
    ),
    "missing values become numbers": (
        "dpreg.pipeline.stream._copy",
        "        if column.null_count:",
        "        if False:",
        "test_stream.py -k missing",
    ),
    "an empty file has types": (
        "dpreg.pipeline.stream._slices",
        "if groups:  # without a record",
        "if True:  # without a record",
        "test_stream.py -k without_records",
    ),
    "rows are counted within a row group": (
        "dpreg.pipeline.stream._read",
        "columns, path, before + first)",
        "columns, path, first)",
        "test_stream.py -k missing",
    ),
    "rows are counted within a chunk": (
        "dpreg.pipeline.stream._part",
        'return function(checks.numeric(rows, "X", first), checks.numeric(target, "y", first), first)[None]',
        'return function(checks.numeric(rows, "X", 0), checks.numeric(target, "y", 0), 0)[None]',
        "test_stream.py -k whole_input",
    ),
    "rows are counted within a block": (
        "dpreg.pipeline.objective._moments",
        "part, first + start)",
        "part, first)",
        "test_stream.py -k whole_input",
    ),
    "rows of a table are counted within a block": (
        "dpreg.pipeline.domain.Domain.table",
        "table[start:stop], start)",
        "table[start:stop], 0)",
        "test_stream.py -k whole_input",
    ),
    "missing values are no numbers": (
        "dpreg.checks.numeric",
        "if not text and (place := _gap(value, array)):",
        "if False:",
        "test_checks.py -k missing",
    ),
    "what pandas marks as missing is NaN": (
        "dpreg.checks._gap",
        'elif hasattr(value, "isna") and any(not isinstance(kind, np.dtype) for kind in _types(value)):',
        "elif False:",
        "test_checks.py -k missing",
    ),
    "a changed file goes unnoticed": (
        "dpreg.pipeline.stream._read",
        "or file.metadata.row_group(group).num_rows != length",
        "",
        "test_stream.py -k change",
    ),
}
