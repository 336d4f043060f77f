-- $1 digest, $2 account, $3 request id, $4 caller, $5 protocol, $6 region, $7 pivot, $8 count, $9 number of entries, $10 and
-- $11 first and last IPv4 address.
-- The gateways from the pivot on, then those before it: each half is one walk along an index.
WITH chosen AS MATERIALIZED (
    (SELECT 1 AS half, spin, host, port FROM gateways
     WHERE protocol = $5 AND REGION AND spin >= $7 ORDER BY spin LIMIT $8)
    UNION ALL
    (SELECT 2 AS half, spin, host, port FROM gateways
     WHERE protocol = $5 AND REGION AND spin < $7 ORDER BY spin LIMIT $8)
)
-- A whitelist entry is its first address, its last, whether it is enabled, and its expiry if it has one: 33 or 45 bytes.
-- $9 of them are returned at most, which may be none, and all those that cover the caller in any case.
SELECT t.kind, t.expires_at, t.revoked_at, a.real_name_verified,
       ARRAY(SELECT w.first || w.last || CASE WHEN w.enabled THEN '\x01'::bytea ELSE '\x00'::bytea END
                    || coalesce(w.expires_at, ''::bytea)
             FROM whitelist AS w
             WHERE w.account_id = $2 AND w.first >= $10 AND w.last <= $11
             LIMIT $9) AS entries,
       ARRAY(SELECT w.first || w.last || CASE WHEN w.enabled THEN '\x01'::bytea ELSE '\x00'::bytea END
                    || coalesce(w.expires_at, ''::bytea)
             FROM whitelist AS w
             WHERE w.account_id = $2 AND w.first BETWEEN $10 AND $4 AND w.last BETWEEN $4 AND $11) AS covering,
       ARRAY(SELECT e.protocol FROM entitlements AS e WHERE e.account_id = $2 ORDER BY e.protocol) AS entitled,
       ARRAY(SELECT e.expires_at FROM entitlements AS e WHERE e.account_id = $2 ORDER BY e.protocol) AS ends,
       x.parameters, x.endpoints,
       ARRAY(SELECT host FROM chosen ORDER BY half, spin LIMIT $8) AS hosts,
       ARRAY(SELECT port FROM chosen ORDER BY half, spin LIMIT $8) AS ports
FROM tokens AS t
JOIN accounts AS a ON a.id = $2
LEFT JOIN extractions AS x ON x.account_id = $2 AND x.request_id = $3
WHERE t.sha256 = $1 AND t.account_id = $2
