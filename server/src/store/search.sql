-- $1 digest, $2 maximum number of rows, $3 rows to skip, $4 to $6 addresses, then filters.
WITH matched (id) AS MATERIALIZED (
    MATCHED
)
-- The total is there on every page, also on one past the last, which has one row without an instance.
SELECT t.account_id, t.kind, t.expires_at, t.revoked_at,
       (SELECT count(*) FROM matched) AS total,
       i.id, i.offer_id, i.status, i.ip, i.port, i.protocols, i.country_code, i.city_code, i.isp_type,
       i.expires_at, i.activated_at, i.capabilities, i.group_id
FROM tokens AS t
LEFT JOIN (SELECT id FROM matched ORDER BY id LIMIT $2 OFFSET $3) AS page ON TRUE
INSTANCE
WHERE t.sha256 = $1
ORDER BY i.id
