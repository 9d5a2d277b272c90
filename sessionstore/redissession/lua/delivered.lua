-- Drops the messages up to seq from an outbox.
return drop(ARGV[1], ARGV[2])
