-- An account has a range once. Of several entries for one range stays the one that lets callers in for longest, so that
-- nobody who was let in is kept out.
DELETE FROM whitelist WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (
            PARTITION BY account_id, first, last
            ORDER BY enabled DESC, (expires_at IS NULL) DESC, expires_at DESC, id
        ) AS place
        FROM whitelist
    ) AS entries
    WHERE place > 1
);

DROP INDEX whitelist_by_account;
CREATE UNIQUE INDEX whitelist_by_account ON whitelist (account_id, first, last);
