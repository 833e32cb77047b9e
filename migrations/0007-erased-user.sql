-- Who was erased, once for each time. What was received before that and is still on its way (in the journal of another
-- process, set aside, or in a replay) must not bring the person back, nor tell anybody of them. Only a digest: the id itself
-- is personal.
create table erased_user (
  app_id integer not null,
  client_digest text collate "C" not null,
  journal_id text not null,
  position bigint not null,
  erased_at_ms bigint not null,
  primary key (app_id, client_digest, journal_id, position)
);

create index erased_user_at on erased_user (erased_at_ms)
