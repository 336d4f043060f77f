-- With its ids the index tells what matches a search that has no filter, without a look at the table. Searches use the old
-- one until the new one is built.
CREATE INDEX instances_by_address_with_ids ON instances (account_id, ip, port) INCLUDE (id);
DROP INDEX instances_by_address;
ALTER INDEX instances_by_address_with_ids RENAME TO instances_by_address;
