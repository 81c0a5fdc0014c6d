"""Takes out of Superset what descriptions no longer describe: imports add and replace, and leave a chart that was renamed.

`python -m dashboards.prune`, in Superset's environment.  What people made by hand in Superset stays.
"""

from __future__ import annotations

from superset.app import create_app

from dashboards.bundle import files
from dashboards.described import load


def main() -> None:
    with create_app().app_context():
        from superset import db
        from superset.models.dashboard import Dashboard
        from superset.models.slice import Slice

        described = {content["uuid"] for content in files(load()).values() if "uuid" in content}
        for kind in (Slice, Dashboard):
            for one in db.session.query(kind).filter(kind.is_managed_externally):
                if str(one.uuid) not in described:
                    db.session.delete(one)
        db.session.commit()


if __name__ == "__main__":
    main()
