-- $1 digest, $2 account, $3 addresses with $4 first and $5 last port, disjoint, $6 maximum number of rows, $7 rows to skip,
-- $8… filters: $9 whether only ungrouped instances match, the others NULL for none. A search without
-- filters leaves out the lines that end with the comment `filter`, which the program looks for: the index alone then tells what matches.
-- OFFSET 0 keeps the planner from turning the seeks into a join, for which it might scan the account.
WITH matched AS MATERIALIZED (
    SELECT found.id
    FROM unnest($3::bytea[], $4::integer[], $5::integer[]) AS wanted (ip, lowest, highest)
    CROSS JOIN LATERAL (
        SELECT i.id
        FROM instances AS i
        WHERE i.account_id = $2
          AND i.ip = wanted.ip
          AND i.port BETWEEN wanted.lowest AND wanted.highest
          AND ($8::text IS NULL OR i.order_no = $8) -- filter
          AND (NOT $9::boolean OR i.group_id IS NULL) -- filter
          AND ($10::bigint IS NULL OR i.group_id = $10) -- filter
          AND ($11::text IS NULL OR i.country_code = $11) -- filter
          AND ($12::text IS NULL OR i.city_code = $12) -- filter
          AND ($13::text IS NULL OR i.status = $13) -- filter
          AND ($14::bytea IS NULL OR i.activated_at >= $14) -- filter
          AND ($15::bytea IS NULL OR i.activated_at <= $15) -- filter
        OFFSET 0
    ) AS found
)
-- The total is there on every page, also on one past the last, which has one row without an instance.
SELECT t.kind, t.expires_at, t.revoked_at,
       (SELECT count(*) FROM matched) AS total,
       i.id, i.offer_id, i.status, i.ip, i.port, i.protocols, i.country_code, i.city_code, i.isp_type,
       i.expires_at, i.activated_at, i.capabilities, i.group_id
FROM tokens AS t
LEFT JOIN (SELECT id FROM matched ORDER BY id LIMIT $6 OFFSET $7) AS page ON true
LEFT JOIN LATERAL (
    SELECT * FROM instances AS one WHERE one.account_id = $2 AND one.id = page.id OFFSET 0
) AS i ON true
WHERE t.sha256 = $1 AND t.account_id = $2
ORDER BY i.id
