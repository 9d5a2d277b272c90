-- Removes the messages up to a number from an outbox.
return drop(ARGV[1], ARGV[2])
