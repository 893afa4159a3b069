"""What a store's classifiers learn from and how: labelled texts from files and from stored articles, training with figures, versions
compared. Pages and commands ask the same functions."""
