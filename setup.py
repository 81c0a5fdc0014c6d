"""Puts the dbt project, which lies at the root of the repository, into the wheel as `chronicle/dbt`."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
FOLDERS = ("models", "macros", "analyses", "dbt_project", "tests/alerts", "tests/data")
KINDS = (".sql", ".yml", ".csv", ".md")


def dbt_files() -> list[str]:
    """The files of the dbt project, below the root."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in KINDS]
    return ["dbt_project.yml", "profiles.yml", *(path.relative_to(ROOT).as_posix() for path in found)]


class BuildWithDbt(build_py):
    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        # An earlier build may have left files that are gone from the repository.
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        for name in dbt_files():
            copy = Path(self.build_lib, "chronicle", "dbt", name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy)

    def get_source_files(self) -> list[str]:
        """What goes into a source distribution, from which a wheel can be built as well."""
        return [*super().get_source_files(), *dbt_files(), *sorted(path.name for path in ROOT.glob("requirements*.in"))]


setup(cmdclass={"build_py": BuildWithDbt})
