"""Compare methods on one split, as in the paper, and measure speed."""
