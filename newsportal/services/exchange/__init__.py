"""Import and export articles: JSON lines, CSV, Parquet, WARC, with the same fields (:mod:`form`, ``docs/article.schema.json``)."""
