"""The views: each takes the site and a request, and returns a page or a part of one."""
