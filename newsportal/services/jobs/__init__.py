"""Background jobs. One supervisor (``supervisor``) starts jobs for its duties (``duties``) with a runner: subprocesses of this machine
(``local``), or a scrapyd (``scrapyd``). Each job has one record (``records``) with its outcome as data."""
