-- $1 digest, $2 account, $3 request id, $4 caller, $5 now, $6 protocol, $7 region, $8 pivot, $9 count, $10 entries,
-- $11 and $12 first and last IPv4 address.
-- The gateways that follow the pivot on the ring, then those before it: each half is one walk along an index.
WITH chosen AS MATERIALIZED (
    (SELECT 1 AS half, spin, host, port FROM gateways
     WHERE protocol = $6 AND REGION AND spin >= $8 ORDER BY spin LIMIT $9)
    UNION ALL
    (SELECT 2 AS half, spin, host, port FROM gateways
     WHERE protocol = $6 AND REGION AND spin < $8 ORDER BY spin LIMIT $9)
)
-- An entry of the whitelist is its first address, its last, and its end if it has one: 32 or 44 bytes. $10 of them are told
-- at most, which may be none; whether one holds the caller is told in any case.
SELECT t.kind, t.expires_at, t.revoked_at, a.real_name_verified,
       ARRAY(SELECT w.first || w.last || coalesce(w.expires_at, ''::bytea) FROM whitelist AS w
             WHERE w.account_id = $2 AND w.first >= $11 AND w.last <= $12
               AND w.enabled AND (w.expires_at IS NULL OR w.expires_at > $5)
             LIMIT $10) AS entries,
       EXISTS (SELECT 1 FROM whitelist AS w
               WHERE w.account_id = $2 AND w.first <= $4 AND w.last >= $4
                 AND w.enabled AND (w.expires_at IS NULL OR w.expires_at > $5)) AS whitelisted,
       ARRAY(SELECT e.protocol FROM entitlements AS e WHERE e.account_id = $2 ORDER BY e.protocol) AS entitled,
       ARRAY(SELECT e.expires_at FROM entitlements AS e WHERE e.account_id = $2 ORDER BY e.protocol) AS ends,
       x.parameters, x.endpoints,
       ARRAY(SELECT host FROM chosen ORDER BY half, spin LIMIT $9) AS hosts,
       ARRAY(SELECT port FROM chosen ORDER BY half, spin LIMIT $9) AS ports
FROM tokens AS t
JOIN accounts AS a ON a.id = $2
LEFT JOIN extractions AS x ON x.account_id = $2 AND x.request_id = $3
WHERE t.sha256 = $1 AND t.account_id = $2
