-- Who was erased. What was received before that and is still on its way (in the journal of another process, set aside, or
-- in a replay) must not bring the person back, nor tell anybody of them. Only a digest: the id itself is personal.
create table erased_user (
  app_id integer not null,
  client_digest text collate "C" not null,
  erased_at_ms bigint not null,
  journal_id text not null,
  primary key (app_id, client_digest)
);

create index erased_user_at on erased_user (erased_at_ms)
