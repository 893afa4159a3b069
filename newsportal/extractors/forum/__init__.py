"""Forum posts: a thread's page in, its posts out. Pure."""
