"""How well searching finds: each judged query is asked in each mode, in a journal made of the corpus."""

from __future__ import annotations

from math import log2
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from agent_journal import archive, config, journal
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.journal import embeddings
from agent_journal.journal.search_resources import SearchResources
from agent_journal.journal.sentences import SentenceSearch
from agent_journal.search import fusion, hybrid
from agent_journal.search.lexical import Index
from agent_journal.search.query import parse
from agent_journal.search.semantic import models, sentence
from agent_journal.search.semantic.hashed import HashModel
from agent_journal.search.semantic.ranker import SemanticRanker
from agent_journal.search.semantic.vectors import StoredVectors
from tests.search import corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.config import Config
    from agent_journal.search.query import Query
    from agent_journal.search.ranking import Ranker, Ranking
    from agent_journal.search.semantic.models import Model
    from tests.search.corpus import Judged, Talk

PAGE = Path(__file__).parents[2] / "docs" / "search-quality.md"
BEGIN, END = "<!-- measured by bench/quality.py -->", "<!-- end -->"
SENTENCE_BEGIN = "<!-- measured by bench/quality.py --sentence -->"
LOCOMO_BEGIN = "<!-- measured by bench/quality.py --locomo -->"
_CUT = 10
_DRAWS = 2000


class Score(NamedTuple):
    """How well one query was answered."""

    ndcg: float
    reciprocal: float


class Mean(NamedTuple):
    """A mean, and between what it lies in 95 of 100 samples like this one."""

    value: float
    low: float
    high: float


def journal_of_corpus(home: Path, talks: Sequence[Talk]) -> Config:
    """A journal with some conversations."""
    settled = config.load(home, {})
    history = home / "histories.jsonl"
    history.write_text("".join(map(corpus.as_history, talks)), encoding="utf-8")
    journal.import_files(settled, [ImportCandidate(str(history))], lambda _: None)
    return settled


class Bench:
    """Conversations, by default those of the corpus, ready to be asked."""

    def __init__(self, home: Path, talks: Sequence[Talk] | None = None) -> None:
        self.config = journal_of_corpus(home, corpus.talks() if talks is None else talks)
        self.archive = archive.open_to_read(home)
        self.words = Index.open(self.config.storage.index_path)
        store = self.archive.store
        self.names = {key: each.message for key, each in store.entry_views(store.index_keys()).items()}

    def meaning(self, model: Model) -> SemanticRanker:
        """Search by meaning with a model; vectors of another one go."""
        embeddings.Embedder(self.archive, self.config, model).run()
        said = embeddings.read_current(self.archive, self.config, model)
        assert said is not None
        return SemanticRanker(
            _held(StoredVectors(embeddings.vectors_folder(self.config), said)), model, self.words
        )

    def sentences(self, semantic: Ranker, *, read_all: bool) -> Ranker:
        """Search with the sentence model, too; it has read everything, or only leading hits."""
        model = sentence.load()
        assert model is not None, "pip install 'agent-journal[sentence]'"
        if read_all:
            folder = embeddings.sentence_folder(self.config)
            embeddings.Embedder(self.archive, self.config, model, folder).run()
        return _WithSentences(
            SentenceSearch(self.archive, self.config, model, self.words, SearchResources(self.config)),
            semantic,
        )

    def scores(self, ranker: Ranker, judged: Sequence[Judged]) -> list[Score]:
        """How well a way of searching answers queries."""
        return [self.score(ranker, each) for each in judged]

    def score(self, ranker: Ranker, each: Judged) -> Score:
        """How well a way of searching answers a query. Titles are made of messages: they do not count."""
        query, _ = self.words.correct(parse(each.query))
        ranked = [self.names.get(hit.key) for hit in ranker.rank(query, _CUT * 3).entries]
        places = [name for name in ranked if name][:_CUT]
        return Score(ndcg(places, each.relevant), reciprocal(places, each.relevant))


class _WithSentences:
    """Makes a ranker for each query, as a search does."""

    def __init__(self, search: SentenceSearch, semantic: Ranker) -> None:
        self._search = search
        self._semantic = semantic

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first."""
        first = self._search.with_words(self._semantic, fusion.WEIGHTS)
        return self._search.ranker(first, self._semantic, with_words=True).rank(query, limit)


def _held(stored: StoredVectors) -> StoredVectors:
    """The vectors in memory, as their files will go."""
    stored.rows, stored.keys = stored.rows.copy(), stored.keys.copy()
    return stored


def ndcg(places: Sequence[str], relevant: dict[str, int]) -> float:
    """The normalised discounted cumulative gain of the first ten."""
    gained = sum((2 ** relevant.get(name, 0) - 1) / log2(place + 2) for place, name in enumerate(places))
    ideal = sorted(relevant.values(), reverse=True)[:_CUT]
    return float(gained / sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(ideal)))


def reciprocal(places: Sequence[str], relevant: dict[str, int]) -> float:
    """One by the place of the first that is relevant."""
    return next((1 / place for place, name in enumerate(places, 1) if relevant.get(name)), 0.0)


def mean(values: Sequence[float]) -> Mean:
    """The mean with its bootstrap interval; the same values give the same."""
    chance = Random(1)  # noqa: S311 (no secret)
    draws = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(_DRAWS))
    low, high = draws[int(_DRAWS * 0.025)], draws[int(_DRAWS * 0.975)]
    return Mean(sum(values) / len(values), low, high)


def by_class(judged: Sequence[Judged]) -> Iterator[tuple[str, list[int]]]:
    """Each class with the places of its queries; all of them at the end."""
    for kind in corpus.CLASSES:
        yield kind, [place for place, each in enumerate(judged) if each.kind == kind]
    yield "all", list(range(len(judged)))


def rankers(bench: Bench) -> dict[str, Callable[[], Ranker]]:
    """The ways of searching, by name."""
    static = models.choose_model(Path("/nowhere"), "none").model
    assert static is not None
    hashed = HashModel()
    return {
        "lexical": lambda: bench.words,
        "semantic": lambda: bench.meaning(static),
        "hybrid": lambda: hybrid.HybridRanker(bench.words, bench.meaning(static)),
        "hash": lambda: bench.meaning(hashed),
        "hybrid (hash)": lambda: hybrid.HybridRanker(bench.words, bench.meaning(hashed), fusion.HASH_WEIGHTS),
    }


def rankers_with_sentences(bench: Bench) -> dict[str, Callable[[], Ranker]]:
    """The ways of searching by both halves, without and with the sentence model."""
    static = models.choose_model(Path("/nowhere"), "none").model
    assert static is not None
    semantic = bench.meaning(static)
    return {
        "hybrid": lambda: hybrid.HybridRanker(bench.words, semantic),
        "with the model, leading hits": lambda: bench.sentences(semantic, read_all=False),
        "with the model, everything": lambda: bench.sentences(semantic, read_all=True),
    }


def measured(
    home: Path,
    judged: Sequence[Judged],
    ways: Callable[[Bench], dict[str, Callable[[], Ranker]]] = rankers,
) -> dict[str, list[Score]]:
    """How well each way of searching answers queries, in a journal that is made in a folder."""
    bench = Bench(home)
    scored = {name: bench.scores(make(), judged) for name, make in ways(bench).items()}
    bench.words.close()
    bench.archive.close()
    return scored


def table(scored: dict[str, list[Score]], judged: Sequence[Judged]) -> list[str]:
    """Two tables in Markdown: one per measure."""
    lines: list[str] = []
    for title, of in (("nDCG@10", 0), ("MRR", 1)):
        lines += [f"{title} (95 % interval)", "", f"| class | queries | {' | '.join(scored)} |"]
        lines.append("|---|--:|" + "---|" * len(scored))
        for kind, places in by_class(judged):
            means = [mean([scores[place][of] for place in places]) for scores in scored.values()]
            cells = [f"{each.value:.2f} ({each.low:.2f}–{each.high:.2f})" for each in means]
            lines.append(f"| {kind} | {len(places)} | {' | '.join(cells)} |")
        lines.append("")
    return lines


def write_section(begin: str, lines: Sequence[str]) -> None:
    """Replace what follows a marker in the page, up to the next end."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    section = "\n".join([before + begin, "", *lines, *([""] if lines[-1] else []), END])
    PAGE.write_text(section + rest.partition(END)[2], encoding="utf-8")


def shortfalls(scored: dict[str, list[Score]], judged: Sequence[Judged]) -> list[str]:
    """Classes where hybrid is worse than the better of both by more than the interval of the difference."""
    found = []
    for kind, places in by_class(judged):
        for other in ("lexical", "semantic"):
            pairs = zip(scored["hybrid"], scored[other], strict=True)
            differences = [one.ndcg - two.ndcg for one, two in pairs]
            least = mean([differences[place] for place in places])
            if least.high < 0:
                found.append(f"{kind}: hybrid is worse than {other} by {-least.value:.3f}")
    return found
