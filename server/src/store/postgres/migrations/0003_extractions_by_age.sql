-- Extractions are kept for a time only, and are forgotten from the oldest on. ASC says nothing new to PostgreSQL; where
-- indexes are hashed unless told otherwise, it keeps this one in order.
CREATE INDEX extractions_by_age ON extractions (created_at ASC);
