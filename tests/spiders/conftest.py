from ledgers import crawler as crawler
from ledgers import ledger as ledger
