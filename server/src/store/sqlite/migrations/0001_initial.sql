-- An address is 16 bytes: IPv6 as it is, IPv4 as IPv4-mapped IPv6.
-- A time is 12 bytes that sort as the instants do, to the nanosecond: `codec.rs` writes and reads them.

CREATE TABLE accounts (
    id                 INTEGER PRIMARY KEY,
    name               TEXT    NOT NULL UNIQUE,
    real_name_verified INTEGER NOT NULL CHECK (real_name_verified IN (0, 1))
) STRICT;

-- AUTOINCREMENT: the number of a token is never given again.
CREATE TABLE tokens (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256     BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    kind       TEXT    NOT NULL,
    created_at BLOB    NOT NULL,
    expires_at BLOB,
    revoked_at BLOB
) STRICT;

CREATE TABLE whitelist (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    first      BLOB    NOT NULL CHECK (length(first) = 16),
    last       BLOB    NOT NULL CHECK (length(last) = 16 AND first <= last),
    enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    expires_at BLOB
) STRICT;

CREATE INDEX whitelist_by_account ON whitelist (account_id, first, last);

CREATE TABLE entitlements (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    protocol   TEXT    NOT NULL,
    expires_at BLOB,
    PRIMARY KEY (account_id, protocol)
) STRICT, WITHOUT ROWID;

-- `spin` is a place on a ring, on which gateways lie evenly. An extraction begins at a random place and takes what comes
-- next, so that the load spreads and the work depends on the count alone.
CREATE TABLE gateways (
    id       INTEGER PRIMARY KEY,
    host     TEXT    NOT NULL,
    port     INTEGER NOT NULL,
    region   TEXT    NOT NULL,
    protocol TEXT    NOT NULL,
    spin     INTEGER NOT NULL,
    username TEXT,
    password TEXT,
    UNIQUE (host, port, region, protocol)
) STRICT;

CREATE INDEX gateways_by_region ON gateways (protocol, region, spin, host, port);
CREATE INDEX gateways_everywhere ON gateways (protocol, spin, host, port);

-- Extractions made under a request id: what was asked for and what was given, as JSON.
CREATE TABLE extractions (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    request_id TEXT    NOT NULL,
    parameters TEXT    NOT NULL,
    endpoints  TEXT    NOT NULL,
    created_at BLOB    NOT NULL,
    PRIMARY KEY (account_id, request_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE groups (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    name       TEXT    NOT NULL,
    created_at BLOB    NOT NULL,
    updated_at BLOB    NOT NULL,
    UNIQUE (account_id, id)
) STRICT;

CREATE TABLE instances (
    id           INTEGER PRIMARY KEY,
    account_id   INTEGER NOT NULL REFERENCES accounts (id),
    ip           BLOB    NOT NULL CHECK (length(ip) = 16),
    port         INTEGER NOT NULL,
    order_no     TEXT,
    offer_id     INTEGER NOT NULL,
    status       TEXT    NOT NULL,
    protocols    TEXT    NOT NULL,
    country_code TEXT    NOT NULL,
    city_code    TEXT    NOT NULL,
    isp_type     INTEGER NOT NULL,
    expires_at   BLOB,
    activated_at BLOB,
    capabilities TEXT    NOT NULL,
    group_id     INTEGER,
    username     TEXT,
    password     TEXT,
    FOREIGN KEY (account_id, group_id) REFERENCES groups (account_id, id)
) STRICT;

-- Not unique: an account may hold one address and port more than once, for instance in different states.
CREATE INDEX instances_by_address ON instances (account_id, ip, port);
