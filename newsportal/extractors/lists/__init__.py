"""Lists of links: hub pages, search result pages, search engines, and the pages of multi-page lists and articles."""
