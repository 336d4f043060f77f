-- $1 protocol, $2 region, $3 most gateways. The ring from its begin: one walk along an index, in whose order it is.
SELECT spin, host, port FROM gateways WHERE protocol = $1 AND REGION ORDER BY spin LIMIT $3
