"""What Kafka's command line tools print when they fail, in the words of 0.8 to 4.x.

Row (of every module of a tool, and of `tool_errors`): `tool_error`: tool, command (as it was typed), request (the call that failed, as the tool names
it), error_class (the innermost exception that is printed), failure (coordinator, authorization, connection, timeout, missing, refused; left out where nothing
tells), message, brokers (host:port, with commas), group_id, topic_name, partition_id.

Source: TopicCommand, ConfigCommand, AclCommand, ConsumerGroupCommand, ReassignPartitionsCommand, GetOffsetShell … of these releases.  Each
prints a sentence of its own, or nothing but the exception's message, and below it the stack trace.
"""

from __future__ import annotations

import re

from ingestion.reading import linear

# Tool -> the classes that are in its stack traces.
CLASSES = {
    "kafka-acls": "AclCommand",
    "kafka-broker-api-versions": "BrokerApiVersionsCommand",
    "kafka-client-metrics": "ClientMetricsCommand",
    "kafka-cluster": "ClusterTool",
    "kafka-configs": "ConfigCommand",
    "kafka-consumer-groups": "ConsumerGroupCommand",
    "kafka-delegation-tokens": "DelegationTokenCommand",
    "kafka-delete-records": "DeleteRecordsCommand",
    "kafka-dump-log": "DumpLogSegments",
    "kafka-features": "FeatureCommand",
    "kafka-get-offsets": "GetOffsetShell",
    "kafka-groups": "GroupsCommand",
    "kafka-leader-election": "LeaderElectionCommand",
    "kafka-log-dirs": "LogDirsCommand",
    "kafka-metadata-quorum": "MetadataQuorumCommand",
    "kafka-preferred-replica-election": "PreferredReplicaLeaderElectionCommand",
    "kafka-reassign-partitions": "ReassignPartitionsCommand",
    "kafka-share-groups": "ShareGroupCommand",
    "kafka-storage": "StorageTool",
    "kafka-streams-groups": "StreamsGroupCommand",
    "kafka-topics": "TopicCommand",
    "kafka-transactions": "TransactionsCommand",
}
FRAME = re.compile(rf"^\s+at (?:[\w.@-]+/+)?(?:kafka|org\.apache\.kafka)\.[\w.]*\b(?P<class>{'|'.join(CLASSES.values())})\b", re.M)
TOOL_OF_CLASS = {name: tool for tool, name in CLASSES.items()}
TOOL_OF_NAME = {
    "acl": "kafka-acls",
    "client metrics": "kafka-client-metrics",
    "config": "kafka-configs",
    "consumer group": "kafka-consumer-groups",
    "delegation token": "kafka-delegation-tokens",
    "group": "kafka-groups",
    "share group": "kafka-share-groups",
    "streams group": "kafka-streams-groups",
    "topic": "kafka-topics",
}
TOOL_OF_GROUP = {"reassign": "kafka-reassign-partitions", "transactions": "kafka-transactions"}
NAMES = "|".join(sorted(TOOL_OF_NAME, key=len, reverse=True))
EXCEPTION = linear.for_lines(r"\b(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b")
TOOL_CLASS = linear.for_lines(r"\b(?:kafka|org\.apache\.kafka)\.(?:\w+\.)*(\w+)(?:\s|\Z)")
# Sentences that only Kafka's tools print.
TOOLS_ONLY = (
    re.compile(rf"^Error while executing (?P<name>{NAMES}) command(?: with args '(?P<args>.*?)'$|\s*:?\s*(?P<message>.*))", re.I),
    re.compile(rf"^Error: Executing (?P<name>{NAMES}) command failed due to (?P<message>.*)", re.I),
    re.compile(r"^(?P<reassign>Partitions reassignment failed due to) (?P<message>.*)"),
    re.compile(r"^(?P<message>Timed out waiting for a node assignment\b.*)"),
    re.compile(r"^(?P<message>Call\(callName=\w+, .*\) (?:timed out|failed|appears)\b.*)"),
    re.compile(r"^(?P<message>Request \w+ failed on brokers .*)"),
    re.compile(
        r"^(?P<message>(?P<transactions>Failed to) (?:abort transaction|describe|list|validate producer state|load admin client properties)\b.*Enable debug logging for additional detail\.)"
    ),
)
# Sentences that other programs print, too; no row of a tool's own output begins with them.
ANYONES = (
    re.compile(r"^Error encountered when executing command: (?P<message>.*)"),
    re.compile(r"^Exception in thread \"[^\"]*\" (?P<message>(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b.*)"),
    re.compile(
        r"^(?P<message>(?:org\.apache\.kafka|kafka|java\.util\.concurrent|org\.apache\.zookeeper|org\.I0Itec)\.[\w.$]*(?:Exception|Error)\b.*)"
    ),
)
# Sentences of a tool that are errors if the text is known to be a tool's.
SAID = (
    re.compile(r"^(?:ERROR|Error): (?P<message>.*)"),
    re.compile(
        r"^Error (?:occurred|executing command|while (?:adding|removing) ACLs|retrieving SCRAM credential configs for [^:]*): (?P<message>.*)"
    ),
    re.compile(r"^(?P<message>Error while making request\b.*)"),
    re.compile(r"^(?P<message>Timeout waiting for election results\b.*|Not authorized to perform leader election\b.*)"),
    re.compile(r"^(?P<message>Skip getting offsets for .*|Could not fetch offset.*|\* Group '.*' could not be deleted due to: .*)"),
    re.compile(r"^(?P<message>(?:Failed to|Could not parse broker info due to) .*)"),
)
REQUEST = re.compile(r"\bRequest (\w+) failed on brokers|\bcallName=(\w+)|\bCall: (\w+)")
BROKERS = linear.for_lines(
    r"(?P<host>[\w.-]+|\[[\da-fA-F:]+\]):(?P<port>\d{2,5}) \(id: -?\d+|\bNode\(-?\d+, ?(?P<old_host>[^,()\s]+), ?(?P<old_port>\d+)\)"
    r"|\bnode -?\d+ \((?P<node_host>[^/\s()]*)/(?P<ip>[^()\s]+?):(?P<node_port>\d+)\)"
)
GROUP = re.compile(
    r"\b(?:group|Group) (?:id )?['`\"](?P<quoted>[^'`\"]+)['`\"]|--group[= ]+(?P<quote>['\"]?)(?P<typed>[^'\"\s]+)(?P=quote)|\bgroupId=(?P<client>[\w.-]+)"
)
PARTITION = re.compile(r"\b(?:topic-partition|partition) '?\[?(?P<topic>[\w.-]+?)(?:-|:|,)(?P<partition>\d+)\b")
# The first that fits.
FAILURES = {
    "coordinator": r"GROUP_COORDINATOR|FIND_COORDINATOR|findCoordinator|[Cc]oordinator(?: is)? (?:not available|loading|load in progress)|CoordinatorNotAvailable|CoordinatorLoadInProgress|NotCoordinator|not the correct coordinator",
    "authorization": r"[Aa]uthorizationException|AuthorizationException|AuthenticationException|[Nn]ot authorized|[Aa]uthentication failed|SSL handshake failed",
    "timeout": r"TimeoutException|[Tt]imed out|[Tt]imeout",
    "connection": r"failed on brokers|DisconnectException|[Dd]isconnect|could not be established|Unable to connect|ConnectException|ConnectionLoss|No resolvable bootstrap|Failed to create new KafkaAdminClient|BrokerNotAvailable",
    "missing": r"does not exist|UnknownTopicOrPartition|GroupIdNotFound|NoNode|not found|does not have a leader|no leader|LeaderNotAvailable",
    "refused": r"Invalid\w*Exception|UnsupportedVersion|already exists|GroupNotEmpty|still active|not supported|IllegalArgument|UnrecognizedOption",
}
FAILURE = {name: linear.for_lines(pattern) for name, pattern in FAILURES.items()}


def error_of(text: str, is_tool: bool) -> re.Match[str] | None:
    """The sentence of a failed tool with which a text begins, if any; `is_tool`: the text is known to be a tool's."""
    first = text.lstrip("\n").split("\n", 1)[0]
    return next((found for form in (*TOOLS_ONLY, *ANYONES, *(SAID if is_tool else ())) if (found := form.match(first))), None)


def fields_of(text: str, found: re.Match[str], tool: str | None, command: str | None) -> dict[str, str | None]:
    """The fields of an error and of the trace below it.  `tool`: the one whose output this is, where its own words do not say another."""
    known = found.groupdict()
    first, _, trace = text.partition("\n")
    message = (known.get("message") or "").strip()
    below = trace.split("\n", 1)[0].strip()
    classes = EXCEPTION.findall(message) or EXCEPTION.findall(below)
    causes = re.findall(r"^Caused by: (\S+?)(?::|\s|$)", trace, re.M)
    message = message or (below if classes else "") or first.strip()
    said = "\n".join((message, *classes, *re.findall(r"^Caused by: .*", trace, re.M)))
    request = REQUEST.search(f"{message}\n{trace}")
    brokers = [
        f"{one['host'] or one['old_host'] or one['node_host'] or one['ip']}:{one['port'] or one['old_port'] or one['node_port']}"
        for one in BROKERS.finditer(message)
    ]
    group = GROUP.search(message) or GROUP.search(command or "")
    partition = PARTITION.search(message)
    return {
        "tool": tool_of(text, found) or tool,
        "command": command,
        "request": next((one for one in request.groups() if one), None) if request else None,
        "error_class": causes[-1] if causes else classes[-1] if classes else None,
        "failure": next((name for name, form in FAILURE.items() if form.search(said)), None),
        "message": message,
        "brokers": ",".join(dict.fromkeys(brokers)) or None,
        "group_id": group["quoted"] or group["typed"] or group["client"] if group else None,
        "topic_name": partition["topic"] if partition else None,
        "partition_id": partition["partition"] if partition else None,
    }


def tool_of(text: str, found: re.Match[str]) -> str | None:
    """The tool whose class is in the trace of an error, or that its sentence names (0.9's kafka-configs says `topic command`)."""
    known = found.groupdict()
    named = next((tool for group, tool in TOOL_OF_GROUP.items() if known.get(group)), None)
    return tool_in_trace(text) or TOOL_OF_NAME.get((known.get("name") or "").lower()) or named


def tool_in_trace(text: str) -> str | None:
    """The tool whose main class is the outermost in a trace."""
    frames = FRAME.findall(text)
    return TOOL_OF_CLASS[frames[-1]] if frames else None


def tool_of_command(text: str, named: str | None) -> str | None:
    """The tool of a command line, which may run its class (`kafka-run-class.sh kafka.tools.GetOffsetShell`)."""
    classes = TOOL_CLASS.findall(text)
    return next((TOOL_OF_CLASS[name] for name in classes if name in TOOL_OF_CLASS), named)
