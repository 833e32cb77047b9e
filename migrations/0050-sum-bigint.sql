-- The sum of bigints as a bigint. PostgreSQL's own sum of them is a numeric, which takes several times as long to make,
-- to add up and to turn back; the slices of the cube have some hundred sums for each user. A sum that does not fit fails,
-- as the cast of the numeric did. Replaced, not created: clearing a database for a restore may leave it there.
create or replace aggregate sum_bigint(bigint) (sfunc = int8pl, stype = bigint, combinefunc = int8pl, parallel = safe);
