"""`python -m chronicle` is `chronicle`."""

from chronicle.cli.main import main

if __name__ == "__main__":
    main()
