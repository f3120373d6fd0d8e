"""The paper's comparison: published numbers, the runs of every method, tables, figures and the report."""
