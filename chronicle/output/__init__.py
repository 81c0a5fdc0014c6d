"""How answers, lines for people and SQL are written."""
