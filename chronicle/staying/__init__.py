"""What other commands ask of a process that stays with a warehouse: `chronicle follow` or `chronicle serve`."""
