"""The store. Open it with ``open_store(uri)``. Guarantees, for every database:

- every write is one transaction and may be repeated: the same article written twice is stored once;
- two writers that add the same story at the same time create one story (search and write are one transaction);
- each change of an article, story or fold appends a row to the change log in the same transaction; ``seq`` only grows,
  and a reader of ``changes(after=seq)`` misses nothing;
- errors are those of ``newsportal.errors``: ``StoreUnavailable`` (unreachable, locked, full: try again), ``StoreTooNew`` (stop);
- datetimes are timezone-aware (UTC) as arguments and results.

Add a test to ``tests/store/test_contract.py`` before adding a method.
"""

from newsportal.store.assistant import AssistantCalls
from newsportal.store.boards import Boards
from newsportal.store.corpora import Corpora
from newsportal.store.crawl_state import CrawlState, Subscriptions, Visits
from newsportal.store.dialects import open_engine
from newsportal.store.editing import Editing
from newsportal.store.events import Events
from newsportal.store.galleries import Galleries
from newsportal.store.links import Links
from newsportal.store.lists import Lists
from newsportal.store.outbox import Outbox
from newsportal.store.pictures import Pictures
from newsportal.store.pruning import Pruning
from newsportal.store.readers import Readers
from newsportal.store.reading import Articles
from newsportal.store.records import Records
from newsportal.store.schema import prepare
from newsportal.store.threads import Threads
from newsportal.store.writing import Writing


class Store(Articles, Lists, Writing, Editing, CrawlState):
    """The database of record. Shared between threads; open one in each process. Calls block: the crawl runs them in threads."""

    def __init__(self, uri: str, *, create: bool = True, unfinished: bool = False) -> None:
        super().__init__(open_engine(uri, create=create))
        self.corpora = Corpora(self._engine)
        self.threads = Threads(self._engine)
        self.pictures = Pictures(self._engine)
        self.readers = Readers(self._engine)
        self.galleries = Galleries(self._engine)
        self.visits = Visits(self._engine)
        self.subscriptions = Subscriptions(self._engine)
        self.outbox = Outbox(self._engine)
        self.links = Links(self._engine)
        self.records = Records(self._engine)
        self.pruning = Pruning(self._engine)
        self.events = Events(self._engine)
        self.assistant = AssistantCalls(self._engine)
        self.boards = Boards(self._engine)
        try:
            prepare(self._engine, unfinished=unfinished)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._engine.dispose()
