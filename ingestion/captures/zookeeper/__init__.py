"""ZooKeeper's four-letter words, and its znodes as its shell prints them."""
