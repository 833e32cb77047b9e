-- Several processes may apply one log, each its own partitions. A row with partition -1 is about a process that applies
-- everything alone.
alter table apply_holder drop column only_row;
alter table apply_holder add column partition smallint not null default -1;
alter table apply_holder add primary key (partition);
-- When the newest applied entry of a partition was received, for the processes that do not apply it themselves.
alter table journal_cursor add column received_at_ms bigint not null default 0;
-- Why the process does not apply what it should; empty while it does.
alter table node add column trouble text not null default '';
