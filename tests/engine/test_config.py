import subprocess
import sys
from pathlib import Path

import pytest

from engine import config
from engine.errors import ConfigError
from evaluators import registry
from evaluators.entry import Entry

ROOT = Path(__file__).parents[2]


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    return path


def test_the_papers_yaml_shapes_load(tmp_path):
    loaded = config.load(
        write(
            tmp_path,
            """
name: "TraderBench Full Evaluation"
datasets:
  - type: bizfinbench
    path: data/BizFinBench.v2
    task_types: [event_logic_reasoning, financial_quantitative_computation]
    languages: [en]
    limit: 2
  - type: synthetic
    limit_per_task: 20
  - type: crypto
    transforms: [baseline, noisy, meta, adversarial]
    limit: 2
sampling: {strategy: stratified, total_limit: 18, seed: 42}
weights: {knowledge_retrieval: 0.5, crypto_trading: 0.5}
judge: {model: some-model}
debate: {enabled: false}
limits: {task_time_s: 60, max_tool_calls: 10}
""",
        )
    )
    assert [entry.type for entry in loaded.datasets] == ["bizfinbench", "synthetic", "crypto"]
    assert loaded.datasets[0].options()["languages"] == ["en"]
    assert loaded.datasets[2].transforms == ("baseline", "noisy", "meta", "adversarial")
    assert (loaded.sampling.total_limit, loaded.sampling.seed) == (18, 42)
    assert loaded.limits.max_tool_calls == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\ndatasets: [{type: synthetic, limt: 3}]", "datasets[0].limt: unknown key (did you mean 'limit'?)"),
        (
            "name: x\ndatasets: [{type: synthetic}]\nsampling: {sed: 3}",
            "sampling.sed: unknown key (did you mean 'seed'?)",
        ),
        ("name: x\ndatset: []", "datset: unknown key (did you mean 'datasets'?)"),
        ("name: x\ndatasets: [{type: synthtic}]", "unknown dataset 'synthtic' (did you mean 'synthetic'?)"),
        (
            "name: x\ndatasets: [{type: synthetic, limit: -1}]",
            "datasets[0].limit: Input should be greater than or equal to 0 (got -1)",
        ),
        (
            "name: x\ndatasets: [{type: synthetic, bars: 3}]",
            "datasets[0].bars: unknown key; known: type, limit, limit_per_task, categories, variant, task_types",
        ),
        ("name: x\ndatasets: [{typ: synthetic, limit: 3}]", "datasets[0].typ: unknown key (did you mean 'type'?)"),
        ("name: x\ndatasets: [{limit: 3, windows: 2}]", "datasets[0].type: this key is required"),
        (
            "name: x\ndatasets: [{type: synthetic, path: data/synthetic_questions, variant: drawn}]",
            "variant: drawn has no file; leave out path, or write canonical or as_published",
        ),
        (
            'name: x\ndatasets: [{type: crypto, hf_dataset: "someone/crypto-trading"}]',
            "datasets[0]: hf_dataset: 'someone/crypto-trading' is not fetched by this dataset; download its candle",
        ),
        ("name: x\ndatasets: [synthetic]", "datasets[0]: a dataset is a mapping with the key type, got 'synthetic'"),
        (
            "name: x\ndatasets: [{type: crypto, mode: live}]",
            "datasets[0].mode: Input should be 'interactive' or 'strategy' (got 'live')",
        ),
        ("name: x\ndatasets: []", "datasets: a run needs at least one dataset"),
        ("name: x\ndatasets: [{type: synthetic}]\nweights: {crypto_trading: 0}", "sum to 0"),
        (
            "name: x\ndatasets: [{type: synthetic}]\ndebate: {enabled: true}\nlimits: {max_turns: 1}",
            "limits.max_turns: a debate takes 2 turns, got 1; allow as many, or leave debate.enabled out",
        ),
        (
            "name: x\ndatasets: [{type: synthetic}]\ndebate: {enabled: true, objections: judge}",
            "debate.objections: judge needs the run's judge; add judge: {model: ...}, or write bank",
        ),
        ("name: x\ndatasets: [{type: synthetic}]\nlimits: {task_time_s: .nan}", "limits.task_time_s"),
        (
            "name: x\nseeds: 3\nbars: 200\nstrategies: [macd]",
            "this is the config of a sweep; run it with: traderbench sweep",
        ),
        ("datasets: [{type: synthetic}]", "c.yaml: name: this key is required"),
        ("nam: x\ndatasets: [{type: synthetic}]", "c.yaml: nam: unknown key (did you mean 'name'?)"),
        ("name: x\ndatasets: [{type: synthetic}]\nzzz: 1", "zzz: unknown key; known: name, version"),
        ("- 1", "a config is a mapping"),
        ("name: [", "not valid YAML"),
    ],
)
def test_a_bad_config_is_one_line_that_names_field_value_and_what_is_right(tmp_path, text, said):
    with pytest.raises(ConfigError) as raised:
        config.load(write(tmp_path, text))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_config_names_the_file(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read config .*nothing\.yaml"):
        config.load(tmp_path / "nothing.yaml")


def test_records_are_frozen(tmp_path):
    loaded = config.load(write(tmp_path, "name: x\ndatasets: [{type: synthetic}]"))
    with pytest.raises(ValueError, match="frozen"):
        loaded.name = "y"


RUN_CONFIGS = sorted(path for path in (ROOT / "configs").glob("*.yaml") if not path.name.startswith("sweep"))


@pytest.mark.parametrize("path", RUN_CONFIGS, ids=lambda path: path.name)
def test_every_shipped_run_config_loads(path):
    assert config.load(path).datasets


@pytest.mark.parametrize("seed", range(8))
def test_the_quick_config_calls_for_the_trading_server_whatever_the_seed(seed):
    (entry,) = [row for row in config.load(ROOT / "configs" / "quick.yaml").datasets if row.type == "professional"]
    cases = registry.get(entry.type).draw(seed=seed, count=entry.limit, options=entry.options())
    assert len(cases) == 5
    assert [case.task.servers for case in cases].count(("trading", "yfinance")) == 1


@pytest.mark.parametrize("name", registry.DATASETS)
def test_what_an_entry_may_say_stands_in_the_folder_of_its_dataset(name):
    options = registry.options(name)
    assert options.__module__ == f"evaluators.{name}.options"
    assert config.dataset_entry({"type": name, "limit": 2}) == options(limit=2)
    assert not set(config.RunConfig.model_fields) & (set(options.model_fields) - set(Entry.model_fields))


def test_reading_every_config_imports_no_numerical_library():
    program = (
        "import sys\nfrom engine import config, shipped\nfrom evaluators import registry\n"
        "for name in shipped.config_names('run'):\n    config.load(name)\n"
        "for name in registry.DATASETS:\n    config.dataset_entry({'type': name})\n"
        "print(sorted({'jax', 'numpy', 'pandas', 'scipy', 'ray'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
