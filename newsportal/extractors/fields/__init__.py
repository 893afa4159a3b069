"""The fields of an article: title, time of publication, author, and what pages say of themselves to machines."""
