"""`chronicle build` and `chronicle dbt`: bronze to marts."""
