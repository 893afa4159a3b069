"""Lists of links: hub pages, result pages, the engines that give them, and the pages of what is longer than one."""
