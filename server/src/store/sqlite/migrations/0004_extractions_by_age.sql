-- Extractions are kept for a time only, and are forgotten from the oldest on.
CREATE INDEX extractions_by_age ON extractions (created_at);
