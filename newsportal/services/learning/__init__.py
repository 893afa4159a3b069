"""Training data and training of a store's classifiers: labelled texts from files and stored articles, evaluation, comparison of versions.
Shared by pages and commands."""
