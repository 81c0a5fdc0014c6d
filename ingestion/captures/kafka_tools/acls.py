"""`kafka-acls --list`: who may do what.

Rows (beside those of `_tools`):

- `acl`: resource_kind (topic, group, cluster, transactional_id, delegation_token, user), resource_name, pattern_kind (literal, prefixed; left
  out before 2.0), principal, host, operation, permission (allow, deny); names in lower case but those of resources, principals and hosts.

Forms: AclCommand of 0.9 to 4.x; until 1.x `User:a has Allow permission for operations: Read from hosts: *`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, any_of, failed_tool, mostly, significant, snake, whole
from ingestion.reading import linear

ACLS = "kafka_acls"
KINDS = {ACLS: "Access control lists, as kafka-acls --list prints them."}
LOG_BESIDE = True

RESOURCE = re.compile(r"^\s*(?:Current|Adding|Removing|Deleting) ACLs for resource `(?P<resource>[^`]+)`: ?\s*$")
PATTERN = re.compile(r"^ResourcePattern\(resourceType=(?P<kind>\w+), name=(?P<name>.*), patternType=(?P<pattern>\w+)\)$")
OLD_PATTERN = re.compile(r"^(?P<kind>[A-Za-z]+):(?:(?P<pattern>LITERAL|PREFIXED|Literal|Prefixed):)?(?P<name>.*)$")
ACL = linear.for_lines(
    r"^\s*\(principal=(?P<principal>.*), host=(?P<host>.*), operation=(?P<operation>\w+), permissionType=(?P<permission>\w+)\)\s*$"
)
OLD_ACL = re.compile(
    r"^\s*(?P<principal>[^\s:]+:.*?) has (?P<permission>Allow|Deny) permission for operations: (?P<operation>\w+) from hosts: (?P<host>\S+)\s*$"
)
SAID = re.compile(r"^ACLs for principal `|^Error while (?:adding|removing) ACLs|^Warning: |^Are you sure you want to")


def kind_of(sample: str, name: str = "") -> str | None:
    return ACLS if mostly(significant(sample), any_of(RESOURCE, ACL, OLD_ACL)) or failed_tool(sample) == "kafka-acls" else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp, resource = Stamp(about, "kafka-acls"), {}
    for line in whole(lines):
        head = RESOURCE.match(line.text)
        if head:
            resource = resource_of(head["resource"])
        else:
            yield stamp.common(line) or row_of(resource, line, stamp)


def resource_of(text: str) -> dict[str, str | None]:
    found = PATTERN.match(text) or OLD_PATTERN.match(text)
    if not found:
        return {"resource_name": text}
    kind = found["kind"].lower() if found["kind"].isupper() else snake(found["kind"])
    return {"resource_kind": kind, "resource_name": found["name"], "pattern_kind": found["pattern"].lower() if found["pattern"] else None}


def row_of(resource: dict[str, str | None], line: Line, stamp: Stamp) -> Row:
    found = ACL.match(line.text) or OLD_ACL.match(line.text)
    if found:
        fields = resource | found.groupdict()
        fields |= {
            "operation": snake(found["operation"]) if not found["operation"].isupper() else found["operation"].lower(),
            "permission": found["permission"].lower(),
        }
        return stamp.row("acl", line, fields, warnings=() if resource else ("the resource was named above this part",))
    return stamp.said(line) if SAID.match(line.text) else stamp.unread(line, "no line of kafka-acls")
