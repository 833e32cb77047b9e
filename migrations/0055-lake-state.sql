-- How the parts of the lake are doing: "files" are written, a "bucket" is kept in step with them (docs/LAKE.md).
-- turns: counted by whoever works on the part, to notice that somebody else has. behind_since_ms: since when
-- files cannot be written, or the bucket is not in step; null: all is well. failure: why the last turn failed; empty: it did not.
create table lake_state (
  part text collate "C" primary key,
  turns bigint not null,
  worked_at_ms bigint not null,
  behind_since_ms bigint,
  waiting_files bigint not null,
  files bigint not null,
  bytes bigint not null,
  failure text not null
);
