"""Photo stories (套图): what one of their pages tells, and one story of all. Pure."""
