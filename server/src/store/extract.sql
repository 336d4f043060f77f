-- $1 protocol, $2 number of gateways, $3 pivot, $4 digest, $5 request id, $6 caller, $7 region. OWNER is the account of the token.
-- One statement reads one snapshot in one round trip. Each of its parts fills some of the columns, whose types are those of the first.
SELECT 0 AS part, a.real_name_verified AS flag, t.expires_at AS time, t.revoked_at AS first, t.sha256 AS last,
       t.kind AS text, a.name AS other, a.id AS number, a.id AS port
FROM tokens AS t JOIN accounts AS a ON a.id = t.account_id
WHERE t.sha256 = $4
UNION ALL
SELECT 1, enabled, expires_at, first, last, NULL, NULL, NULL, NULL
FROM whitelist WHERE account_id = OWNER AND first <= $6 AND last >= $6
UNION ALL
SELECT 2, NULL, expires_at, NULL, NULL, protocol, NULL, NULL, NULL
FROM entitlements WHERE account_id = OWNER
UNION ALL
SELECT 3, NULL, NULL, NULL, NULL, parameters, endpoints, NULL, NULL
FROM extractions WHERE account_id = OWNER AND request_id = $5
-- The gateways from the pivot on, then those before it: each half is one walk along an index.
UNION ALL
SELECT 4, NULL, NULL, NULL, NULL, host, NULL, spin, port
FROM (SELECT spin, host, port FROM GATEWAYS AND spin >= $3 ORDER BY spin LIMIT $2) AS after
UNION ALL
SELECT 5, NULL, NULL, NULL, NULL, host, NULL, spin, port
FROM (SELECT spin, host, port FROM GATEWAYS AND spin < $3 ORDER BY spin LIMIT $2) AS before
