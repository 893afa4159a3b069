"""The fields of an article: title, publication date, author, and the page's metadata."""
