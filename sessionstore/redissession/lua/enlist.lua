-- Puts a partition into the work index, with the time of this server's clock.
-- KEYS[1] is the work index, ARGV[1] the partition.
return redis.call('ZADD', KEYS[1], redis.call('TIME')[1], ARGV[1])
