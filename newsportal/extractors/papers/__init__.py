"""Extraction algorithms from papers, as published."""
