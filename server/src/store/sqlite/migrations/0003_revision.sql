-- Counts the changes of what a server may hold in memory, so that it can ask whether it still holds the truth. Triggers
-- count, so that no program can change a table without it.
CREATE TABLE revision (
    access   INTEGER NOT NULL,
    gateways INTEGER NOT NULL
) STRICT;

INSERT INTO revision VALUES (0, 0);

CREATE TRIGGER accounts_inserted AFTER INSERT ON accounts BEGIN UPDATE revision SET access = access + 1; END;
CREATE TRIGGER accounts_updated AFTER UPDATE ON accounts BEGIN UPDATE revision SET access = access + 1; END;
CREATE TRIGGER accounts_deleted AFTER DELETE ON accounts BEGIN UPDATE revision SET access = access + 1; END;

CREATE TRIGGER tokens_inserted AFTER INSERT ON tokens BEGIN UPDATE revision SET access = access + 1; END;
CREATE TRIGGER tokens_updated AFTER UPDATE ON tokens BEGIN UPDATE revision SET access = access + 1; END;
CREATE TRIGGER tokens_deleted AFTER DELETE ON tokens BEGIN UPDATE revision SET access = access + 1; END;

CREATE TRIGGER whitelist_inserted AFTER INSERT ON whitelist BEGIN UPDATE revision SET access = access + 1; END;
CREATE TRIGGER whitelist_updated AFTER UPDATE ON whitelist BEGIN UPDATE revision SET access = access + 1; END;
CREATE TRIGGER whitelist_deleted AFTER DELETE ON whitelist BEGIN UPDATE revision SET access = access + 1; END;

CREATE TRIGGER entitlements_inserted AFTER INSERT ON entitlements BEGIN UPDATE revision SET access = access + 1; END;
CREATE TRIGGER entitlements_updated AFTER UPDATE ON entitlements BEGIN UPDATE revision SET access = access + 1; END;
CREATE TRIGGER entitlements_deleted AFTER DELETE ON entitlements BEGIN UPDATE revision SET access = access + 1; END;

CREATE TRIGGER gateways_inserted AFTER INSERT ON gateways BEGIN UPDATE revision SET gateways = gateways + 1; END;
CREATE TRIGGER gateways_updated AFTER UPDATE ON gateways BEGIN UPDATE revision SET gateways = gateways + 1; END;
CREATE TRIGGER gateways_deleted AFTER DELETE ON gateways BEGIN UPDATE revision SET gateways = gateways + 1; END;
