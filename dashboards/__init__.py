"""Dashboards for Superset as descriptions: `described` reads them, `queries` gives each chart's SQL, `bundle` writes what Superset imports."""
