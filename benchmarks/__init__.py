"""How fast Woodwind is, as ratios to what the machine can do at best: `python -m benchmarks`, or `make bench`."""
