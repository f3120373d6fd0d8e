"""The paper's whole comparison: every method on one split, and the tables and figures of section 4.

entries ──► workbench (pictures, extractors) ──► contenders ──► running (costs) ──► records ──► report
                                                                (tables, figures, examples, page)
"""
