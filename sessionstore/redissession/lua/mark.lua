-- Says that a partition may have work, since when by this server's clock.
-- KEYS[1] is the work index, ARGV[1] the partition.
return redis.call('ZADD', KEYS[1], redis.call('TIME')[1], ARGV[1])
