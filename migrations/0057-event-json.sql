-- Properties of new events are stored as they come. Those of stored events stay as they are: writing them again would take hours. Neither
-- column has the name that versions before knew: theirs must fail instead of missing one, and an entry that they could not store in a
-- column of another type would be set aside.
alter table event rename column properties to properties_jsonb;
alter table event alter column properties_jsonb drop not null;
alter table event add column properties_json json;
