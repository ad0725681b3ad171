"""What benchmarks/compare.py compares: `rows` is the table, `subjects` how each thing is timed, `measure` the tools."""
