"""One supervisor (``supervisor``) starts jobs by its duties (``duties``) on a runner: a subprocess or a thread of this
process (``local``), or a scrapyd (``scrapyd``). Each job has one record (``records``), which holds its outcome as data."""
