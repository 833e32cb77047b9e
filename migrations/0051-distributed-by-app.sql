-- Keys begin with the app, so that the tables can be distributed by it (docs/CLUSTER.md).
alter table outbox drop constraint outbox_pkey;
alter table outbox add primary key (app_id, outbox_id);
alter table earlier_postback drop constraint earlier_postback_pkey;
alter table earlier_postback add primary key (app_id, earlier_id);

-- 0: an entry that cannot be read belongs to no app.
update set_aside set app_id = 0 where app_id is null;
alter table set_aside alter column app_id set default 0;
alter table set_aside alter column app_id set not null;
alter table set_aside drop constraint set_aside_pkey;
alter table set_aside add primary key (app_id, set_aside_id);

-- How far an app's entries are applied, where each app has transactions of its own: in a distributed database.
create table app_cursor (
  app_id integer not null,
  journal_id text not null,
  partition smallint not null,
  position bigint not null,
  primary key (app_id, journal_id, partition)
);
