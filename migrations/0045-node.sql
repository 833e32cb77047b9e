-- The processes of an installation, by their last signs of life. Times are the database's own. Unlogged: each process
-- writes its row again within seconds, so a crash may empty the table, and replicas and backups do without it.
create unlogged table node (
  node_id text primary key,
  host text not null,
  process_id integer not null,
  address text not null,
  roles text[] not null,
  version text not null,
  started_at_ms bigint not null,
  seen_at_ms bigint not null
);
