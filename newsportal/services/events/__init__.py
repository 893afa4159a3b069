"""Stored events: ``following`` assigns stories, ``timeline`` prepares their pages, ``editing`` changes them."""
