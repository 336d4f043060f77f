-- $1 protocol, $2 region, $3 maximum number. All gateways, ascending by spin: one walk along an index, in whose order
-- they are.
SELECT spin, host, port FROM gateways WHERE protocol = $1 AND REGION ORDER BY spin LIMIT $3
