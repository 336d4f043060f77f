-- ?1 account, ?2 array of blobs, disjoint: 16 bytes of address, then first and last port, each in five digits, ?3… filters:
-- ?4 whether only ungrouped instances match, the others NULL for none.
-- CROSS JOIN and INDEXED BY keep the planner from scanning the account: the work depends on the batch alone.
WITH matched (id) AS MATERIALIZED (
    SELECT i.id
    FROM rarray(?2) AS wanted
    CROSS JOIN instances AS i INDEXED BY instances_by_address
    WHERE i.account_id = ?1
      AND i.ip = substr(wanted.value, 1, 16)
      AND i.port BETWEEN CAST(substr(wanted.value, 17, 5) AS INTEGER) AND CAST(substr(wanted.value, 22) AS INTEGER)
      AND (?3 IS NULL OR i.order_no = ?3)
      AND (NOT ?4 OR i.group_id IS NULL)
      AND (?5 IS NULL OR i.group_id = ?5)
      AND (?6 IS NULL OR i.country_code = ?6)
      AND (?7 IS NULL OR i.city_code = ?7)
      AND (?8 IS NULL OR i.status = ?8)
      AND (?9 IS NULL OR i.activated_at >= ?9)
      AND (?10 IS NULL OR i.activated_at <= ?10)
)
-- The total is there on every page, also on one past the last, which has one row without an instance.
SELECT (SELECT count(*) FROM matched) AS total,
       i.id, i.offer_id, i.status, i.ip, i.port, i.protocols, i.country_code, i.city_code, i.isp_type,
       i.expires_at, i.activated_at, i.capabilities, i.group_id
FROM (SELECT 1)
LEFT JOIN (SELECT id FROM matched ORDER BY id LIMIT ?11 OFFSET ?12) AS page
LEFT JOIN instances AS i ON i.id = page.id
ORDER BY i.id
