-- Columnar copies of facts (docs/LAKE.md). An app that has no row here has none, and nothing is marked for it.
-- Events received before written_until_ms are in files. Those received before read_until_ms that come later are noted by key.
create table lake_app (
  app_id integer primary key,
  lake_id text not null,
  read_until_ms bigint not null,
  written_until_ms bigint not null,
  is_begun boolean not null default false
);

-- Days whose files lack something. again: a row that may be in a file has changed or is gone, so the whole day is written anew.
-- received_ms: the last receipt of the events that the mark stands for.
create table lake_mark (
  app_id integer not null,
  kind text collate "C" not null,
  day date not null,
  again boolean not null,
  marked bigint not null,
  since_ms bigint not null,
  received_ms bigint not null,
  primary key (app_id, kind, day)
);

-- Events that came after others received later had been read.
create table lake_late (
  app_id integer not null,
  client_id text collate "C" not null,
  day date not null,
  at_ms bigint not null,
  fingerprint uuid not null,
  primary key (app_id, day, client_id, at_ms, fingerprint)
);

-- The files that count. Any other file in the folder is left over.
create table lake_file (
  app_id integer not null,
  kind text collate "C" not null,
  day date not null,
  name text collate "C" not null,
  rows bigint not null,
  bytes bigint not null,
  written_at_ms bigint not null,
  primary key (app_id, kind, day, name)
);

-- The term of a holder that marks days for the lake. Earlier versions do not, and leave it as it was.
alter table apply_holder add column marks_term text not null default '';

-- Events lie in the order of their receipt, so a few pages tell where those of the last seconds are.
create index event_received on event using brin (received_at_ms) with (pages_per_range = 16, autosummarize = on);
