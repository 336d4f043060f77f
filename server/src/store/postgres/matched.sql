-- OFFSET 0 keeps the planner from turning the seeks into a join, for which it might scan the account.
SELECT found.id
FROM unnest($4::bytea[], $5::integer[], $6::integer[]) AS wanted (ip, lowest, highest)
CROSS JOIN LATERAL (
    SELECT i.id
    FROM instances AS i
    WHERE i.account_id = OWNER
      AND i.ip = wanted.ip
      AND i.port BETWEEN wanted.lowest AND wanted.highest
      FILTERS
    OFFSET 0
) AS found
