"""Recipes: one small function a category, from proportions to parts, back to front."""
