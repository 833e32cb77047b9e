-- The properties of events that the file has as columns of their own.
alter table lake_file add column properties jsonb not null default '[]';
