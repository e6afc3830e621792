"""Warnings of the package."""

from __future__ import annotations


class ConvergenceWarning(UserWarning):
    """An iterative method was stopped by its largest number of iterations."""
