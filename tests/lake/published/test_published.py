"""Public banks are fetched whole, at one commit, and are what was fetched ever after."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from engine.cli import main
from lake.point_in_time import ProviderUnavailable
from lake.published import held, sources
from lake.published.pull import pull

sys.path.insert(0, str(Path(__file__).parent))
from hosts import COMMIT, LATER, Host, serve

QUESTIONS = json.dumps({"questions": []}).encode()
TREE = "/api/datasets/openai/gdpval/tree/" + COMMIT
TABLE, SHEET = "data/train.parquet", "reference_files/0a/Plan %20 1.xlsx"
CODE_FILE = f"/yxc20089/AgentBusters/{COMMIT}/data/synthetic_questions/questions.json"


def resolved(name: str, commit: str = COMMIT) -> str:
    return f"/datasets/openai/gdpval/resolve/{commit}/{name}"


def gdpval() -> Host:
    files = {TABLE: b"t" * 5000, SHEET: bytes(range(256)) * 20, "README.md": b"#", "data/notes.txt": b"no"}
    return Host(files, large={TABLE})


def bank() -> Host:
    return Host({"data/synthetic_questions/questions.json": QUESTIONS, "src/other.py": b"pass"})


def test_the_hubs_files_are_fetched_at_a_commit_and_written_down(tmp_path):
    with serve(gdpval()) as host:
        host.per_page = 2
        pulled = pull("gdpval", folder=tmp_path, base_url=host.url)
    assert (pulled.commit, pulled.files, pulled.new, pulled.size) == (COMMIT, 2, 2, 5000 + 5120)
    assert (tmp_path / TABLE).read_bytes() == b"t" * 5000 and (tmp_path / SHEET).read_bytes() == bytes(range(256)) * 20
    written = json.loads((tmp_path / held.LIST).read_text())
    assert written["repository"] == "openai/gdpval" and written["commit"] == COMMIT
    assert written["files"][TABLE] == [5000, hashlib.sha256(b"t" * 5000).hexdigest()]
    assert not list(tmp_path.rglob("*.part"))


def test_the_code_hosts_file_goes_where_the_papers_print_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serve(bank()) as host:
        assert main(["data", "pull", "synthetic", "--base-url", host.url]) == 0
    assert Path("data/synthetic_questions/questions.json").read_bytes() == QUESTIONS


def test_options_without_tickers_are_the_published_tasks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serve(Host({"data/options/questions.json": QUESTIONS})) as host:
        assert main(["data", "pull", "options", "--base-url", host.url]) == 0
    assert Path("data/options/questions.json").read_bytes() == QUESTIONS


def test_a_second_pull_asks_for_no_file_and_keeps_to_the_commit_of_the_first(tmp_path):
    with serve(gdpval()) as host:
        pull("gdpval", folder=tmp_path, base_url=host.url)
        host.newest, host.asked = LATER, []
        again = pull("gdpval", folder=tmp_path, base_url=host.url)
        assert (again.commit, again.new, again.files) == (COMMIT, 0, 2)
        assert not [path for path, _ in host.asked if "/resolve/" in path]
        moved = pull("gdpval", folder=tmp_path, base_url=host.url, revision="main")
        assert moved.commit == LATER and held.read(tmp_path).commit == LATER


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_host_is_asked_again(tmp_path, status):
    with serve(gdpval()) as host:
        host.headers = {"Retry-After": "0"}
        host.moods = {TREE: [status], resolved(TABLE): [status, status]}
        pulled = pull("gdpval", folder=tmp_path, base_url=host.url, back_off_s=0.01)
    assert pulled.new == 2 and pulled.missing == ()


def test_a_file_that_is_cut_short_goes_on_at_its_byte(tmp_path):
    with serve(gdpval()) as host:
        host.moods = {resolved(TABLE): [("cut", 1500), ("cut", 1000)]}
        pulled = pull("gdpval", folder=tmp_path, base_url=host.url, back_off_s=0.01)
        ranges = [asked for path, asked in host.asked if path == resolved(TABLE)]
    assert ranges == ["", "bytes=1500-", "bytes=2500-"]
    assert (tmp_path / TABLE).read_bytes() == b"t" * 5000 and pulled.missing == ()


def test_a_pull_that_was_broken_off_goes_on_in_the_next_one(tmp_path):
    with serve(gdpval()) as host:
        host.moods = {resolved(TABLE): [("cut", 1500), *[503] * 9]}
        first = pull("gdpval", folder=tmp_path, base_url=host.url, back_off_s=0.001)
        assert first.files == 1 and "HTTP 503" in first.missing[0]
        host.moods, host.asked = {}, []
        second = pull("gdpval", folder=tmp_path, base_url=host.url)
        assert (resolved(TABLE), "bytes=1500-") in host.asked
    assert (second.files, second.new) == (2, 1)


def test_a_host_that_knows_no_ranges_sends_all_of_it_again(tmp_path):
    with serve(gdpval()) as host:
        host.moods = {resolved(TABLE): [("cut", 1500), ("whole",)]}
        pull("gdpval", folder=tmp_path, base_url=host.url, back_off_s=0.01)
    assert (tmp_path / TABLE).read_bytes() == b"t" * 5000


@pytest.mark.parametrize("name", [TABLE, SHEET])
def test_content_that_is_not_what_is_listed_is_not_kept(tmp_path, name):
    with serve(gdpval()) as host:
        wrong = b"x" * len(host.files[name])
        address = resolved(name)
        host.moods = {address: [("other", wrong)] * 9}
        pulled = pull("gdpval", folder=tmp_path, base_url=host.url, back_off_s=0.001)
    assert not (tmp_path / name).exists() and not list(tmp_path.rglob("*.part"))
    assert "is listed" in pulled.missing[0] and ("sha256" if name == TABLE else "git name") in pulled.missing[0]


def test_more_than_is_listed_is_not_read(tmp_path):
    with serve(gdpval()) as host:
        host.moods = {resolved(TABLE): [("other", b"t" * 3_000_000)] * 9}
        pulled = pull("gdpval", folder=tmp_path, base_url=host.url, back_off_s=0.001)
    assert "is longer than the 5,000 bytes listed" in pulled.missing[0]


def test_a_refusal_says_what_to_do_and_is_not_tried_again(tmp_path):
    with serve(gdpval()) as host:
        host.moods = {TREE: [403]}
        with pytest.raises(
            ProviderUnavailable, match=r"HTTP 403; accept its terms on .*/openai/gdpval, and give a token"
        ):
            pull("gdpval", folder=tmp_path, base_url=host.url)
        assert sum(path == TREE for path, _ in host.asked) == 1


def test_a_limit_of_requests_that_is_used_up_is_told(tmp_path):
    with serve(bank()) as host:
        host.headers = {"X-RateLimit-Remaining": "0"}
        host.moods = {"/repos/yxc20089/AgentBusters/commits/HEAD": [403]}
        with pytest.raises(ProviderUnavailable, match="limit of requests is used up"):
            pull("synthetic", folder=tmp_path, base_url=host.url)


def test_a_token_goes_to_the_host_and_not_to_where_it_redirects(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with serve(gdpval()) as mirror, serve(gdpval()) as host:
        host.mirror = mirror.url.replace("127.0.0.1", "localhost")
        pull("gdpval", folder=tmp_path, base_url=host.url)
        assert {token for _, token in host.tokens} == {"Bearer hf_secret"}
        assert mirror.tokens and {token for _, token in mirror.tokens} == {""}
    assert "hf_secret" not in (tmp_path / held.LIST).read_text()


@pytest.mark.parametrize(
    "path", ["data/../../x.parquet", "data/.././x.parquet", "data/a\\b.parquet", "data/a\n.parquet"]
)
def test_places_outside_of_the_folder_are_refused(tmp_path, path):
    with serve(Host({path: b"x"})) as host, pytest.raises(ProviderUnavailable, match="none within a folder"):
        pull("gdpval", folder=tmp_path / "here", base_url=host.url)
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == [".lock"]


def test_a_repository_without_what_is_wanted_is_told(tmp_path):
    with (
        serve(Host({"README.md": b"#"})) as host,
        pytest.raises(ProviderUnavailable, match=r"holds no data/\*.parquet"),
    ):
        pull("gdpval", folder=tmp_path, base_url=host.url)


def test_a_changed_file_of_the_same_commit_is_fetched_again_and_must_be_the_same(tmp_path):
    with serve(bank()) as host:
        pull("synthetic", folder=tmp_path, base_url=host.url)
        (tmp_path / "questions.json").write_bytes(b"changed")
        assert pull("synthetic", folder=tmp_path, base_url=host.url).new == 1
        (tmp_path / "questions.json").unlink()
        host.files["data/synthetic_questions/questions.json"] = b'{"questions": [1]}'
        with pytest.raises(ProviderUnavailable, match="at the first pull it had"):
            pull("synthetic", folder=tmp_path, base_url=host.url)
    assert not (tmp_path / "questions.json").exists()


def test_another_banks_folder_is_not_taken(tmp_path, capsys):
    with serve(bank()) as host:
        pull("synthetic", folder=tmp_path, base_url=host.url)
        assert main(["data", "pull", "gdpval", "--out", str(tmp_path), "--base-url", host.url]) == 2
    assert "holds yxc20089/AgentBusters, not openai/gdpval" in capsys.readouterr().err


def test_what_is_missing_is_the_exit_status(tmp_path, capsys):
    with serve(gdpval()) as host:
        host.moods = {resolved(TABLE): [404]}
        command = ["data", "pull", "gdpval", "--out", str(tmp_path), "--base-url", host.url]
        assert main(command) == 66
        assert main(command) == 0
        host.moods = {TREE: [404]}
        assert main(command) == 71
    shown = capsys.readouterr()
    assert "missing: data/train.parquet: the hub did not give" in shown.out and "(1 new)" in shown.out


def test_list_and_verify_tell_banks_and_market_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["data", "list"]) == 0 and "nothing was pulled" in capsys.readouterr().out
    with serve(bank()) as host:
        main(["data", "pull", "synthetic", "--base-url", host.url])
    table = Path("data/macro/fred")
    table.mkdir(parents=True)
    (table / "X.parquet").write_bytes(b"rows")
    digest = hashlib.sha256(b"rows").hexdigest()
    (table / "manifest.json").write_text(json.dumps({"keys": {"X": {"file": "X.parquet", "sha256": digest}}}))
    capsys.readouterr()
    assert main(["data", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["kind"], row["files"], row["size"]) for row in rows] == [
        ("synthetic", 1, len(QUESTIONS)), ("market data", 1, 4)
    ]  # fmt: skip
    assert rows[0]["version"] == f"yxc20089/AgentBusters {COMMIT[:12]}"
    assert main(["data", "verify"]) == 0 and "2 files are what was pulled" in capsys.readouterr().out
    (table / "X.parquet").write_bytes(b"sows")
    Path("data/synthetic_questions/questions.json").unlink()
    assert main(["data", "verify"]) == 65
    shown = capsys.readouterr().out
    assert "questions.json: is missing" in shown and "X.parquet: its sha256 is" in shown


def test_what_is_not_there_names_one_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sources.missing("synthetic", "data/synthetic_questions/questions.json") == (
        "there is nothing at 'data/synthetic_questions/questions.json'; fetch it with: traderbench data pull synthetic"
    )
    assert sources.missing("public_csv", "mine.csv").endswith(
        "traderbench data pull public_csv, and write path: finance-agent"
    )
    assert sources.folder_of("scale-ai/prbench") == "data/prbench"
    assert sources.folder_of("openai/gdpvall") is None
