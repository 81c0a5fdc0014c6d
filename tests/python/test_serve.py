"""Options that `chronicle serve` refuses before it starts Java, and the lines of its users' file."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from chronicle.cli.main import execute
from chronicle.project import PROJECT
from chronicle.serve import passwords
from chronicle.serve.relations import Relation, as_text, relations
from chronicle.serve.serve import Options, check, directory, is_loopback, key_of, settings

KNOWN = "anna:pbkdf2_sha256:600000:AAECAwQFBgcICQoLDA0ODw==:"


@pytest.mark.parametrize(
    ("host", "is_own"), [("127.0.0.1", True), ("127.8.0.1", True), ("localhost", True), ("0.0.0.0", False), ("a.b", False)]
)
def test_loopback(host: str, is_own: bool) -> None:
    assert is_loopback(host) is is_own


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "users"
    file.write_text(passwords.line("anna", "ein langes Wort") + "\n")
    file.chmod(0o600)
    return file


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    file = tmp_path / "server.p12"
    file.write_bytes(b"")
    return file


def test_other_addresses_need_users_and_tls(users: Path, keystore: Path) -> None:
    for options, lacking in (
        (Options(host="0.0.0.0"), "--password-file or --ldap-url and --keystore"),
        (Options(host="0.0.0.0", password_file=users), "add --keystore,"),
        (Options(host="0.0.0.0", keystore=keystore, keystore_password="x"), "add --password-file or --ldap-url,"),
        (Options(host="kafka.example.com"), "is reachable by others"),
    ):
        with pytest.raises(ValueError, match=lacking):
            check(options)
    check(Options(host="0.0.0.0", password_file=users, keystore=keystore, keystore_password="x"))
    check(Options())


def test_changes_are_for_this_machine_only(users: Path, keystore: Path) -> None:
    with pytest.raises(ValueError, match="--read-write"):
        check(Options(host="0.0.0.0", read_write=True, password_file=users, keystore=keystore, keystore_password="x"))
    with pytest.raises(ValueError, match="--read-write gives every client this machine's shell: add --password-file"):
        check(Options(read_write=True))
    check(Options(read_write=True, password_file=users))


def test_a_directory_is_asked_in_private() -> None:
    with pytest.raises(ValueError, match="ldaps://"):
        check(Options(ldap_url="ldap://directory", ldap_base="dc=example"))
    with pytest.raises(ValueError, match="--ldap-base"):
        check(Options(ldap_url="ldaps://directory"))
    options = Options(ldap_url="ldaps://directory", ldap_base="dc=example")
    assert settings(options, "/work")["spark.hadoop.hive.server2.authentication"] == "LDAP"
    assert directory(options) == {
        "hive.server2.authentication.ldap.url": "ldaps://directory",
        "hive.server2.authentication.ldap.baseDN": "dc=example",
    }


def test_a_keystore_needs_its_password(keystore: Path) -> None:
    with pytest.raises(ValueError, match="CHRONICLE_KEYSTORE_PASSWORD"):
        check(Options(keystore=keystore))
    with pytest.raises(ValueError, match="no such file"):
        check(Options(keystore=keystore.with_name("other"), keystore_password="x"))


def test_the_rule_is_there_unless_changes_are_asked_for() -> None:
    assert "chronicle.ReadOnly" in settings(Options(), "/work")["spark.sql.extensions"]
    assert "spark.sql.extensions" not in settings(Options(read_write=True), "/work")


def test_the_folder_of_hives_own_schema_is_not_the_warehouse() -> None:
    assert settings(Options(), "/work")["spark.sql.warehouse.dir"] == "/work/warehouse"


def test_a_line_holds_a_salted_hash() -> None:
    # Made by Python's own hashlib, salt 00 01 … 0f.
    line = passwords.line("anna", "correct horse", bytes(range(16)))
    assert line.startswith(KNOWN)
    assert passwords.LINE.fullmatch(line)
    assert passwords.line("anna", "correct horse") != passwords.line("anna", "correct horse")
    for user, password in (("", "long enough"), ("a:b", "long enough"), ("a b", "long enough"), ("anna", "short")):
        with pytest.raises(ValueError, match="use"):
            passwords.line(user, password)


def test_a_file_that_others_read_is_refused(users: Path) -> None:
    assert passwords.check(users) == 1
    users.chmod(0o640)
    with pytest.raises(ValueError, match="chmod 600"):
        passwords.check(users)
    users.chmod(0o600)
    users.write_text("anna:geheim\n")
    with pytest.raises(ValueError, match="users:1: not a line"):
        passwords.check(users)
    users.write_text("\n")
    with pytest.raises(ValueError, match="no users"):
        passwords.check(users)


def test_wrong_usage_is_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["serve", "--host", "0.0.0.0", "--warehouse", str(tmp_path)]) == 2
    assert "is reachable by others" in capsys.readouterr().err
    assert execute(["serve", "--port", "0"]) == 2
    assert execute(["serve", "--warehouse", str(tmp_path / "none")]) == 1
    assert "no warehouse there" in capsys.readouterr().err


def test_keys_are_the_first_columns_that_say_so() -> None:
    from deltalake import Field

    assert key_of("fct_incidents", Field("incident_key", "string", metadata={"comment": "Key of the row."})) == "incident_key"
    assert key_of("dim_known_issues", Field("issue_id", "string", metadata={"comment": "Number in Kafka's tracker."})) == "issue_id"
    assert key_of("rpt_fleet_daily", Field("event_date", "date", metadata={"comment": "The day, UTC."})) == ""


def test_relations_lead_to_keys_of_published_tables() -> None:
    found = relations()
    assert Relation("marts", "fct_leader_elections", "node_key", "marts", "dim_nodes", "node_key") in found
    assert len({(one.schema, one.table, one.column) for one in found}) == len(found)
    for one in found:
        (place,) = (PROJECT / "models").rglob(f"{one.to_table}.yml")
        (model,) = yaml.safe_load(place.read_text(encoding="utf-8"))["models"]
        key = model["columns"][0]
        assert one.to_column == key["name"], one
        assert {"unique", "unique_key"} & {
            test if isinstance(test, str) else next(iter(test)) for test in (*key.get("data_tests", ()), *model.get("data_tests", ()))
        }, one


def test_a_test_of_some_rows_or_of_a_step_makes_no_relation(tmp_path: Path) -> None:
    stated = """
    models:
      - name: fct_a
        columns:
          - name: node_key
            data_tests: [not_null, {relationships: {arguments: {to: ref('dim_nodes'), field: node_key}}}]
          - name: topic_key
            data_tests: [{relationships: {arguments: {to: ref('dim_topics'), field: topic_key}, config: {where: is_open}}}]
          - name: step_key
            data_tests: [{relationships: {arguments: {to: ref('int_a__steps'), field: step_key}}}]
    """
    for name in ("dim_nodes", "dim_topics"):
        (tmp_path / f"{name}.yml").write_text(f"models: [{{name: {name}, columns: [{{name: {name[4:-1]}_key}}]}}]")
    (tmp_path / "fct_a.yml").write_text(stated)
    (tmp_path / "int_a__b.yml").write_text(stated)
    assert as_text(relations(tmp_path)) == "marts\tfct_a\tnode_key\tmarts\tdim_nodes\tnode_key"
