"""Rostering benchmarks in the vocabulary of /v1/solve: converters of published formats, and instances made here."""
