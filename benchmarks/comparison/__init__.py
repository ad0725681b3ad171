"""What benchmarks/compare.py compares: `rows` is the table, `subjects`, `whole_jobs` and `laboratory` how each thing is measured, `measure` the tools."""
