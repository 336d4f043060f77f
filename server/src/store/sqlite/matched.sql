-- An address is a blob: 16 bytes, then first and last port, each in five digits, because SQLite cannot convert bytes to a number.
-- CROSS JOIN and INDEXED BY keep the planner from scanning the account: the work depends on the batch alone.
SELECT i.id
FROM rarray($4) AS wanted
CROSS JOIN instances AS i INDEXED BY instances_by_address
WHERE i.account_id = OWNER
  AND i.ip = substr(wanted.value, 1, 16)
  AND i.port BETWEEN CAST(substr(wanted.value, 17, 5) AS INTEGER) AND CAST(substr(wanted.value, 22) AS INTEGER)
  FILTERS
