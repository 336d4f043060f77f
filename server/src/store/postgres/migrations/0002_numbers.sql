-- The highest number that something of a kind had which is gone.
CREATE TABLE numbers (
    kind text   PRIMARY KEY,
    last bigint NOT NULL
);
