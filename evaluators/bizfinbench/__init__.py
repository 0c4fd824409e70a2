"""Event ordering and table computations in BizFinBench's formats; own items, or the public files."""
