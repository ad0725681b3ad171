"""The comparisons of benchmarks/compare.py: `rows` is the table; `subjects`, `whole_jobs` and `laboratory` measure; `measure` has the tools."""
