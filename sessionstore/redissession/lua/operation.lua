-- Reads an operation.
return operation(ARGV[2], ARGV[1], ARGV[3]) or {}
