"""The methods of the papers, as published."""
