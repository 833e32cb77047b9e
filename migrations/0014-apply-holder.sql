-- The process that applies its journal into this database: one at a time. Apply's transactions read the term under a row
-- lock, so that nothing of a process that has lost its place is committed after another one has taken it.

create table apply_holder (
  only_row boolean primary key default true check (only_row),
  term text not null,
  journal_id text not null,
  host text not null,
  process_id integer not null,
  -- Of the connection that holds the advisory lock: tells whether this row is still about the holder.
  backend_id integer not null,
  since_ms bigint not null
);
