-- A log may have several partitions, each with positions of its own. The journal in files is partition 0 of its log, which
-- is also what a process of the version before this one writes.
alter table journal_cursor add column partition smallint not null default 0;
alter table journal_cursor drop constraint journal_cursor_pkey;
alter table journal_cursor add primary key (journal_id, partition);
alter table set_aside add column partition smallint not null default 0;
