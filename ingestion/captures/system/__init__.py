"""Captures of the operating system: disks, files, sockets, processes, limits, the kernel."""
