-- After a backup is restored, nobody knows which postbacks were sent after it was taken. Those of entries received before
-- this time count as begun: they go only to receivers that recognise repeats. 0: nothing was restored.
alter table installation add column postbacks_unsure_before_ms bigint not null default 0;
