-- AUTOINCREMENT: the number of an account, which the log shows, and that of a whitelist entry, which administrators use,
-- are never given again. Foreign keys are off while this runs, so that the other tables go on referring to `accounts`.
CREATE TABLE accounts_kept (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    name               TEXT    NOT NULL UNIQUE,
    real_name_verified INTEGER NOT NULL CHECK (real_name_verified IN (0, 1))
) STRICT;
INSERT INTO accounts_kept SELECT id, name, real_name_verified FROM accounts;
DROP TABLE accounts;
ALTER TABLE accounts_kept RENAME TO accounts;

CREATE TABLE whitelist_kept (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    first      BLOB    NOT NULL CHECK (length(first) = 16),
    last       BLOB    NOT NULL CHECK (length(last) = 16 AND first <= last),
    enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    expires_at BLOB
) STRICT;
INSERT INTO whitelist_kept SELECT id, account_id, first, last, enabled, expires_at FROM whitelist;
DROP TABLE whitelist;
ALTER TABLE whitelist_kept RENAME TO whitelist;
CREATE INDEX whitelist_by_account ON whitelist (account_id, first, last);

-- The highest number that something of a kind had which is gone.
CREATE TABLE numbers (
    kind TEXT    PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
